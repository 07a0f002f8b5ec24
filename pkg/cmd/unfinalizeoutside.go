package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// outsideLines name what the objects stand for outside the cluster: without the object nobody finds it again.
func outsideLines(cases []*unfinalize.Case) []string {
	var lines []string
	for _, c := range cases {
		if outside := c.Outside(); len(outside) > 0 {
			lines = append(lines, render.Escape(shortName(c.Ref)+" stands for something outside: "+strings.Join(outside, "; ")))
		}
	}
	return firstLines(lines)
}

// firstLines are the first few of some lines, with how many there are besides.
func firstLines(lines []string) []string {
	if n := len(lines) - phrase.MaxNamed; n > 0 {
		return append(slices.Clone(lines[:phrase.MaxNamed]), fmt.Sprintf("and %d more objects; -o json has them all", n))
	}
	return lines
}

// leftLines say what stayed outside the cluster when finalizers were removed.
func leftLines(outcomes []*unfinalize.Outcome) []string {
	var lines []string
	for _, o := range outcomes {
		for _, d := range o.Done {
			if len(d.Outside) > 0 {
				lines = append(lines, render.Escape("outside the cluster, nobody has cleaned up after "+shortName(d.Object)+": "+strings.Join(d.Outside, "; ")))
			}
		}
	}
	return firstLines(lines)
}
