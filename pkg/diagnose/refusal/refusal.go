// Package refusal finds out who refuses a write, and what would end that.
package refusal

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// Examiner says who refuses a write, and what would end that.
type Examiner struct {
	*core.Examination
	// deletions are what the server answers to whoever would delete an object, and Tries all dry
	// runs.
	deletions core.Sample[core.Place, Deletion]
	Tries     *Tries
}

// New returns an examiner that has tried nothing yet.
func New(c *core.Examination) *Examiner {
	return &Examiner{Examination: c, Tries: &Tries{none: c.NoDryRun, asked: map[string]*asking{}}}
}

// saying is how the API server names who refuses a write, and what that means.
type saying struct {
	pattern *regexp.Regexp
	// means is given the write, all that was said, and what the pattern's groups matched.
	means func(e *Examiner, ctx context.Context, w admission.Write, said string, names []string) []core.Finding
}

func sayings() []saying {
	return []saying{
		{calledInVain, (*Examiner).webhookDown},
		{hookDenied, (*Examiner).webhookDenies},
		{regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'(?: with binding '([^']+)')? denied request`),
			(*Examiner).policyDenies},
		// A policy of either kind that fails itself.
		{regexp.MustCompile(`\bpolicy ['"]([^'"]+)['"](?: with binding '([^']+)')? denied request`), (*Examiner).policyFails},
		{conditionFailed, (*Examiner).conditionFails},
		{regexp.MustCompile(`admission webhook "[^"]+" does not support dry run`), (*Examiner).untried},
		// How RBAC and other authorizers refuse, which says nothing of what the server would say to
		// somebody else.
		{regexp.MustCompile(`cannot [a-z]+ resource "`), (*Examiner).untried},
		{conversionFailed, (*Examiner).unconverted},
	}
}

// refusal returns what an error that a dry run was answered with means, if it says who refuses the
// write; understood is false if it does not. What follows the name is somebody else's text and can
// contain another saying: the one that comes first counts.
func (e *Examiner) refusal(ctx context.Context, w admission.Write, err error) (findings []core.Finding,
	understood bool) {
	if unasked := cluster.Unasked(err); unasked != nil {
		return e.protected(ctx, w, unasked), unasked.Refused
	}
	said := saidOf(w, err)
	var names []string
	var means func(e *Examiner, ctx context.Context, w admission.Write, said string, names []string) []core.Finding
	first := len(said)
	for _, s := range sayings() {
		if at := s.pattern.FindStringIndex(said); at != nil && at[0] < first {
			first, names, means = at[0], s.pattern.FindStringSubmatch(said)[1:], s.means
		}
	}
	if means == nil {
		return nil, false
	}
	return means(e, ctx, w, said, names), true
}

// saidOf is what an error says, without the name of the object that the server puts before it: what
// denies the writes of many objects is then one cause.
func saidOf(w admission.Write, err error) string {
	resource := w.Type.GroupResource()
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("%s %q is forbidden: ", resource, w.Object.GetName()))
}
