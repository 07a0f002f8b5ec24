package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// grow plans a run, agrees to it, and has forty objects come up before it begins.
func grow(t *testing.T, opts func(*Options)) (*fixture, *Loop) {
	t.Helper()
	s := newFixture(t, testcluster.Shared(t))
	s.make("old < nobody")
	o := s.options()
	opts(&o)
	loop := New(newClient(t, testcluster.Shared(t)), o)
	proposal, err := loop.Propose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := proposal.Plan.Deletes(); n != 1 {
		t.Fatalf("%d deletes planned", n)
	}
	loop.Agreed(proposal.Plan)
	for i := range 40 {
		s.make(fmt.Sprintf("new%02d < nobody", i))
	}
	return s, loop
}

// TestRunWritesNothingWhenThePlanHasGrown: one delete was agreed to, and forty objects come up
// before the first pass. Nobody can be asked, so nothing is written, and the error names what is
// new.
func TestRunWritesNothingWhenThePlanHasGrown(t *testing.T) {
	t.Parallel()
	s, loop := grow(t, func(*Options) {})
	_, err := loop.Run(t.Context())
	var grown *GrownError
	if !errors.As(err, &grown) || len(grown.Proposal.Growth.Deleted) != 40 || grown.Proposal.Pass != 1 {
		t.Fatalf("got %v, want that the plan has grown by 40", err)
	}
	if !strings.Contains(err.Error(), fmt.Sprintf(`deletes configmaps "%s/new00"`, s.namespace)) ||
		!strings.HasSuffix(err.Error(), " and 35 more") {
		t.Errorf("%v does not name what is new", err)
	}
	if left := s.left(); len(left) != 41 {
		t.Errorf("left %v", left)
	}
}

// TestRunAsksAboutAPlanThatHasGrown: the answer is to do all of it, only what was agreed to, or
// nothing.
func TestRunAsksAboutAPlanThatHasGrown(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	for name, tt := range map[string]struct {
		answer error
		left   int
	}{"all": {nil, 0}, "only what was agreed to": {ErrOnlyAgreed, 40}, "nothing": {no, 41}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			s, loop := grow(t, func(o *Options) {
				o.Agree = func(_ context.Context, p *Proposal) error {
					if asked++; len(p.Growth.Deleted) != 40 || p.Plan.Deletes() != 41 {
						t.Errorf("asked about %d deletes of %d", len(p.Growth.Deleted), p.Plan.Deletes())
					}
					return tt.answer
				}
			})
			if _, err := loop.Run(t.Context()); errors.Is(err, no) != errors.Is(tt.answer, no) || err != nil &&
				!errors.Is(err, no) {
				t.Errorf("got %v", err)
			}
			if left := s.left(); len(left) != tt.left || asked != 1 {
				t.Errorf("asked %d times, %d left, want %d", asked, len(left), tt.left)
			}
		})
	}
}

// TestRunIsBoundByItsFirstPass: whoever calls Run without a plan agrees to what its first pass
// plans, to the end of the cascade, and to no more. A later Run is another one.
func TestRunIsBoundByItsFirstPass(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.everything()
	proxy, client := proxied(t, c)
	came := before(proxy, isWrite, func() { s.make("late < nobody") })
	opts := s.options()
	opts.Overrides.BreakDeadlocks = true
	loop := New(client, opts)
	_, err := loop.Run(t.Context())
	var grown *GrownError
	if !errors.As(err, &grown) || len(grown.Proposal.Growth.Deleted) != 1 || !came() {
		t.Fatalf("got %v", err)
	}
	if !slices.Contains(s.left(), "late < nobody") {
		t.Errorf("left %v", s.left())
	}
	if _, err := loop.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.check(everythingLeft...)
}

// TestPassLeavesWhatComesUpAfterItWasPlanned: an owner that could not be listed was read alive when
// the pass was planned, and is gone when its dependent is looked at. The next pass plans that, and
// asks.
func TestPassLeavesWhatComesUpAfterItWasPlanned(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.secret("owner", "")
	s.make("agreed < nobody")
	s.patch("agreed", `{"metadata":{"labels":{"x":"y"}}}`)
	s.make("dependent")
	s.patch("dependent", fmt.Sprintf(
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"owner","uid":%q}]}}`, s.uids["owner"]))
	proxy, client := proxied(t, c)
	proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/secrets") }, hidden["403"])
	opts := s.options()
	var events []plan.Event
	opts.OnEvent = func(e plan.Event) { events = append(events, e) }
	loop := New(client, opts)
	loop.passes++
	p, err := loop.list(t.Context())
	if err == nil {
		err = p.bind(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.client.CoreV1().Secrets(s.namespace).Delete(t.Context(), "owner", deleteNow); err != nil {
		t.Fatal(err)
	}
	for _, proof := range loop.proofs.byOwner { // as if it was long ago
		proof.read = time.Time{}
	}
	if err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.check("dependent < owner")
	if len(events) != 1 || !p.result.again {
		t.Errorf("events %v, another pass %t", events, p.result.again)
	}
	_, err = loop.Pass(t.Context())
	var grown *GrownError
	if !errors.As(err, &grown) || len(grown.Proposal.Growth.Deleted) != 1 {
		t.Errorf("got %v", err)
	}
	s.check("dependent < owner")
}

// TestBreakerHoldsInEveryPass: the first pass has no owner loss, and the second would.
func TestBreakerHoldsInEveryPass(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("old < nobody")
	proxy, client := proxied(t, c)
	came := before(proxy, isWrite, func() {
		for i := range 12 {
			s.make(fmt.Sprintf("restored%02d < owner%02d", i, i))
		}
	})
	opts := s.options()
	opts.Agree = AgreeToAll
	_, err := New(client, opts).Run(t.Context())
	var loss *OwnerLossError
	if !errors.As(err, &loss) || !came() {
		t.Fatalf("got %v, want that twelve owners are gone at once", err)
	}
	if left := s.left(); len(left) != 12 {
		t.Errorf("left %v", left)
	}
}

// TestMaxDeletesCountsOverThePasses: what was deleted and what is planned together.
func TestMaxDeletesCountsOverThePasses(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody", "b < nobody")
	proxy, client := proxied(t, c)
	before(proxy, isWrite, func() { s.make("c < nobody", "d < nobody") })
	opts := s.options()
	opts.Agree, opts.MaxDeletes = AgreeToAll, 3
	_, err := New(client, opts).Run(t.Context())
	var most *MaxDeletesError
	if !errors.As(err, &most) || *most != (MaxDeletesError{Done: 2, Planned: 2, Max: 3}) ||
		most.Error() != "the plan has 2 more, which would be 4 in all, and --max-deletes allows 3" {
		t.Errorf("got %v", err)
	}
	s.check("c < nobody", "d < nobody")
}

// TestBreakerDoesNotTripOverWhatWasAgreedTo: the deletion of twelve owners was agreed to, as by
// kubectl gc delete --all --gc=client, and their dependents lose all owners of their kind at once.
func TestBreakerDoesNotTripOverWhatWasAgreedTo(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	var owners []string
	for i := range 12 {
		owners = append(owners, fmt.Sprintf("o%02d", i))
		s.make(owners[i], fmt.Sprintf("d%02d < %s", i, owners[i]))
	}
	client := newClient(t, c)
	loop := New(client, s.options())
	snapshot, err := loop.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var roots []string
	for _, name := range owners {
		roots = append(roots, string(s.uids[name]))
	}
	loop.Agreed(plan.New(snapshot.Graph, lookup(t, snapshot.Graph, roots...), plan.Background, plan.Options{}))
	s.delete(plan.Background, owners...)
	if _, err := loop.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.check()
	if _, err := New(client, s.options()).Run(t.Context()); err != nil {
		t.Error(err)
	}
}
