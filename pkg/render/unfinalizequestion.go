package render

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
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

// UnfinalizeRefusal is the refusal for what a plan refuses; nil if that is nothing. KeepGoing says
// that the others are done.
func UnfinalizeRefusal(p *unfinalize.Planned, keepGoing bool) error {
	refused := p.Refused()
	if len(refused) == 0 {
		return nil
	}
	r := refused[0]
	first := Quoted(r.Candidate.Ref) + ": "
	if r.Assessment.Name != "" {
		first += r.Assessment.Name + ": "
	}
	against := r.Assessment.Against(p.Overrides)[0]
	first += against.Because
	if n := len(refused) - 1; n > 0 {
		first += fmt.Sprintf(" (and %d more refused)", n)
	}
	what := "nothing was removed: "
	if keepGoing {
		what = "refused: "
	}
	return answer.Refuse(answer.WithHint(errors.New(what+first),
		refusalHint(against, len(p.Candidates()) > 1 && !keepGoing)))
}

// refusalHint says what to do about a refusal; others says that there are objects that could be
// done without it.
func refusalHint(r unfinalize.Refusal, others bool) string {
	parts := []string{}
	if r.Hint != "" {
		parts = append(parts, strings.TrimSuffix(r.Hint, "."))
	}
	if r.Asks() {
		parts = append(parts, "on a terminal, without --yes, you are asked")
	}
	if r.Override != unfinalize.Never && !strings.Contains(r.Hint, string(r.Override)) {
		parts = append(parts, string(r.Override)+" overrides this")
	}
	if others {
		parts = append(parts, "--keep-going skips objects that are refused")
	}
	return strings.Join(parts, "; ")
}
