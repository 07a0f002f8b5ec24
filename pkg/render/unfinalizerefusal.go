package render

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

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
