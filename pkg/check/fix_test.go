package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// live is a namespace of ConfigMaps behind a proxy.
type live struct {
	*fixture.ConfigMaps
	t *testing.T
}

func newLive(t *testing.T) *live {
	t.Helper()
	t.Parallel()
	return &live{fixture.NewConfigMaps(t, testcluster.Shared(t), nil), t}
}

// plan checks one object and plans what to fix.
func (l *live) plan(name string) *check.Fixes {
	l.t.Helper()
	p, err := l.tryToPlan(name)
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

func (l *live) tryToPlan(name string) (*check.Fixes, error) {
	l.t.Helper()
	q := &selection.Query{Client: l.Client, Catalog: l.Catalog, Namespace: l.Namespace}
	q.Objects = []selection.Object{l.Object(name)}
	report, err := check.Run(l.t.Context(), q, check.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	return check.PlanFixes(l.t.Context(), l.Client, l.Catalog, report)
}

const nobody = "nobody=11111111-0000-4000-8000-000000000001"

// TestWhatChangesBetweenThePlanAndTheWriteIsSkipped, or done where it does not matter, and what is
// left is still found.
func TestWhatChangesBetweenThePlanAndTheWriteIsSkipped(t *testing.T) {
	type world struct {
		*live
		owner, other, child string // uids
	}
	for name, test := range map[string]struct {
		// meanwhile happens after the plan; before, right before the write reaches the server.
		meanwhile, before func(w world)
		// skipped is why it is; empty if it is done. left are the owners of the object in the end,
		// and found how many findings.
		skipped, left string
		found         int
	}{
		"nothing": {left: "owner"},
		"the other owner is deleted": {meanwhile: func(w world) { w.Delete("owner") },
			skipped: "no other owner of it is alive", left: "nobody owner", found: 1},
		"the other owner is recreated": {meanwhile: func(w world) { w.Delete("owner"); w.Make("owner") },
			skipped: "no other owner of it is alive", left: "nobody owner", found: 1},
		"the absent owner is created, with another uid": {meanwhile: func(w world) { w.Make("nobody") }, left: "owner"},
		"somebody else removes it": {meanwhile: func(w world) { w.Own("child", "owner="+w.owner) },
			skipped: "the reference was removed already", left: "owner"},
		"the object is created again": {
			meanwhile: func(w world) { w.Delete("child"); w.Make("child", nobody, "owner="+w.owner) },
			skipped:   "another object has its name now", left: "nobody owner"},
		"the object is being deleted": {
			meanwhile: func(w world) { w.Patch("child", `{"metadata":{"finalizers":["example.com/hold"]}}`); w.Delete("child") },
			skipped:   "it is being deleted", left: "nobody owner"},
		"a reference that cannot be resolved is added": {meanwhile: func(w world) {
			w.Patch("child", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"nobody","uid":"11111111-0000-4000-8000-000000000001"},
				{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+w.owner+`"},{"apiVersion":"unheard.example.com/v1","kind":"Thing","name":"t","uid":"u"}]}}`)
		}, skipped: "another reference of it cannot be resolved", left: "nobody owner t", found: 1},
		"the uid stands in another reference too": {
			meanwhile: func(w world) {
				w.Make("second")
				w.Own("child", nobody, "owner="+w.owner, "other=11111111-0000-4000-8000-000000000001")
			}, skipped: "another reference of it has the same uid", left: "nobody owner other", found: 1},
		"the references stand elsewhere": {before: func(w world) {
			w.Own("child", "other="+w.other, "owner="+w.owner, nobody)
		}, left: "other owner"},
		"what does not matter": {before: func(w world) { w.Patch("child", `{"data":{"a":"b"}}`) }, left: "owner"},
		"the other owner loses its reference": {
			before: func(w world) { w.Own("child", nobody) }, skipped: "no other owner of it is alive", left: "nobody",
			found: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{live: newLive(t)}
			w.owner, w.other = w.Make("owner"), w.Make("other")
			w.child = w.Make("child", nobody, "owner="+w.owner)
			p := w.plan("child")
			if len(p.Fixes) != 1 || len(p.Left) != 0 {
				t.Fatalf("plan %+v, left %+v", p.Fixes, p.Left)
			}
			if test.meanwhile != nil {
				test.meanwhile(w)
			}
			if test.before != nil {
				w.Before(func() { test.before(w) })
			}
			tried := 0
			all := p.Perform(t.Context(), func(e check.Event) {
				if tried++; e.Action.Object.Name != "child" || e.Action.Verb != plan.VerbOrphan || e.Err != nil {
					t.Errorf("event %+v", e)
				}
			})
			if (tried == 1) != (test.skipped == "") {
				t.Errorf("%d events", tried)
			}
			switch f := all[0]; {
			case f.Err != nil, f.Done != (test.skipped == ""), !f.Done &&
				(f.Skipped == nil || !strings.Contains(f.Skipped.Error(), test.skipped)):
				t.Errorf("done %t, skipped: %v, error %v", f.Done, f.Skipped, f.Err)
			}
			if got := w.Owners("child"); got != test.left {
				t.Errorf("owners %s, want %s", got, test.left)
			}
			if got := p.Remaining(all).Findings; len(got) != test.found {
				t.Errorf("findings %v", lines(got))
			}
		})
	}
}

// TestAReferenceThatAWebhookPutsBackIsNotFixed: the server has taken the write, and the answer
// shows it.
func TestAReferenceThatAWebhookPutsBackIsNotFixed(t *testing.T) {
	l := newLive(t)
	testcluster.Shared(t).PutBack(t, l.Namespace)
	l.Make("child", nobody, "owner="+l.Make("owner"))
	p := l.plan("child")
	var told error
	all := p.Perform(t.Context(), func(e check.Event) { told = e.Err })
	err := check.Errors(all)
	if told == nil {
		t.Error("no event tells that it failed")
	}
	if all[0].Done || !answer.IsRefusal(err) || !strings.Contains(err.Error(), "was put back in the same request") ||
		len(p.Remaining(all).Findings) != 1 {
		t.Errorf("done %t, error %v", all[0].Done, err)
	}
}
