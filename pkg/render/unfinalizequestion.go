package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizeQuestion asks for what is done and for all that comes of it: data first, then what is
// left undone, and what follows. It is wrapped as Paragraphs are.
func UnfinalizeQuestion(p *unfinalize.Planned, s Style) string {
	p = p.Allowed()
	var sentences, undone []string
	var follow []graph.Ref
	stopped := false
	for _, c := range p.Candidates() {
		for _, v := range c.Assessments {
			for _, r := range v.Refusals {
				if line := "Finalizer " + v.Name + ": " + r.Because + leavesOutside(c) + "."; r.Asks() &&
					!slices.Contains(undone, line) {
					undone = append(undone, line)
				}
			}
		}
		if c.After() != nil {
			follow = append(follow, c.After().Deleted...)
			stopped = stopped || len(c.After().Stopped) > 0
		}
	}
	if disks := allDisks(p); len(disks) > 0 {
		sentences = append(sentences, phrase.Sentence("this "+status.Destroys(disks)))
	}
	if n := len(undone) - phrase.MaxNamed; n > 0 {
		undone = append(undone[:phrase.MaxNamed], fmt.Sprintf("And so on for %d more.", n))
	}
	sentences = append(sentences, undone...)
	if len(follow) > 0 {
		then := "Then the garbage collector deletes"
		if stopped {
			then = "The garbage collector does not run. Once it does, it deletes"
		}
		sentences = append(sentences, fmt.Sprintf("%s %s: %s.", then, phrase.Count(len(follow), "object"),
			phrase.And(KindNames(follow...))))
	}
	for i := range sentences {
		sentences[i] = Escape(sentences[i])
	}
	var out strings.Builder
	_ = Paragraphs(&out, sentences, s) // to memory, which cannot fail
	return out.String() + "Do you want to continue? (y/N): "
}

// leavesOutside names what is left outside the cluster.
func leavesOutside(c *unfinalize.Candidate) string {
	outside := c.Outside()
	if len(outside) == 0 {
		return ""
	}
	return " (" + KindName(c.Ref) + ": " + strings.Join(outside, "; ") + ")"
}

// UnfinalizeLosses writes what is destroyed, deleted and left behind by a plan that nobody is asked
// about.
func UnfinalizeLosses(w io.Writer, p *unfinalize.Planned) error {
	good := p.Allowed()
	return Paragraphs(w, slices.Concat(diskLines(good), afterLines(good), strandedLines(p)), Style{})
}
