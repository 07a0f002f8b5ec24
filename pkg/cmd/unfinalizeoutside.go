package cmd

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// outsideLines name what the objects stand for outside the cluster: without the object nobody finds it again.
func outsideLines(cases []*unfinalize.Case) []string {
	var lines []string
	for _, c := range cases {
		if len(c.Goes(unfinalize.ByPatch)) == 0 {
			continue
		}
		if outside := status.Outside(c.Object); len(outside) > 0 {
			lines = append(lines, render.Escape(shortName(c.Ref)+" stands for something outside: "+strings.Join(outside, "; ")))
		}
	}
	return lines
}
