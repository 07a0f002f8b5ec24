package collect

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestARunThatIsRefusedOrNotAgreedToWritesNothing, whatever the caller of the library leaves out.
func TestARunThatIsRefusedOrNotAgreedToWritesNothing(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody", "b < nobody")
	before := s.left()
	client, err := cluster.New(c.Config(), cluster.DefaultConcurrency)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(t.Context(), client, Request{Namespace: s.namespace, MaxDeletes: 1})
	var most *MaxDeletesError
	if out != nil || !answer.IsRefusal(err) || !errors.As(err, &most) || most.Planned != 2 {
		t.Errorf("one delete is allowed: %v, %v", out, err)
	}
	no := errors.New("not today")
	var asked int
	out, err = Run(t.Context(), client, Request{Namespace: s.namespace, Agree: func(_ context.Context, p *Proposal) error {
		asked = len(p.Plan.Deleted)
		return no
	}})
	if out != nil || !errors.Is(err, no) || asked != 2 {
		t.Errorf("the plan of %d deletes is not agreed to: %v, %v", asked, out, err)
	}
	if left := s.left(); !slices.Equal(left, before) {
		t.Errorf("left %q of %q", left, before)
	}
	out, err = Run(t.Context(), client, Request{Namespace: s.namespace})
	if err != nil || out.Idle || out.Tally.Count(plan.VerbDelete) != 2 {
		t.Errorf("without an Agree the first plan counts as agreed to: %v, %v", out, err)
	}
	if out, err = Run(t.Context(), client, Request{Namespace: s.namespace}); err != nil || !out.Idle {
		t.Errorf("nothing is left to do: %v, %v", out, err)
	}
}
