package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// outsideLines name what the objects stand for outside the cluster: without the object nobody finds
// it again.
func outsideLines(p *unfinalize.Planned) []string {
	var lines []string
	for _, c := range p.Candidates() {
		if outside := c.Outside(); len(outside) > 0 {
			lines = append(lines, Escape(KindName(c.Ref)+" stands for something outside: "+strings.Join(outside, "; ")))
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

// LeftOutside writes what stayed outside the cluster when finalizers were removed.
func LeftOutside(w io.Writer, outcomes []*unfinalize.Outcome) error {
	var lines []string
	for _, o := range outcomes {
		for _, d := range o.Done {
			if len(d.Outside) > 0 {
				lines = append(lines, Escape("outside the cluster, nobody has cleaned up after "+KindName(d.Object)+": "+
					strings.Join(d.Outside, "; ")))
			}
		}
	}
	return Paragraphs(w, firstLines(lines), Style{})
}
