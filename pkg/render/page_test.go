package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// edgesOf are the edges of a page in words, sorted.
func edgesOf(p *render.Page) []string {
	var all []string
	for _, e := range p.Edges {
		text := p.Objects[e.Owner].Name + " -> " + p.Objects[e.Dependent].Name
		if e.Link != "" {
			text += " link " + e.Link
		}
		if e.Controller {
			text += " controller"
		}
		if e.BlockOwnerDeletion {
			text += " block"
		}
		all = append(all, strings.Join(append([]string{text}, e.Problems...), " "))
	}
	slices.Sort(all)
	return all
}

// on returns an object of a page.
func on(t *testing.T, p *render.Page, name string) render.PageObject {
	t.Helper()
	i := slices.IndexFunc(p.Objects, func(o render.PageObject) bool { return o.Name == name })
	if i < 0 {
		t.Fatalf("the page has no object %s", name)
	}
	return p.Objects[i]
}

func TestEveryObjectOfATreeIsOnItsPageOnceBelowAnEarlierOne(t *testing.T) {
	t.Parallel()
	for name, tree := range map[string]render.Tree{"shop": shop(), "cut and expanded below": nearer(),
		"linked": linked(t, nil), "hostile": hostile()} {
		p := render.TreePage("kubectl gc tree", tree, nil, false)
		shown := map[graph.ID]bool{}
		for _, row := range tree.Rows {
			shown[row.ID] = true
		}
		if len(p.Objects) != len(shown) {
			t.Errorf("%s: %d objects on the page, want %d", name, len(p.Objects), len(shown))
		}
		for i, o := range p.Objects {
			if o.Parent >= i {
				t.Errorf("%s: %s stands below object %d, which does not come before it", name, o.Name, o.Parent)
			}
		}
	}
}

func TestAPageSaysWhatTheTreeKnows(t *testing.T) {
	t.Parallel()
	gaps := []v1alpha1.Gap{{Resource: "secrets", Reason: v1alpha1.GapForbidden}}
	p := render.TreePage("kubectl gc tree -n shop", shop(), gaps, false)
	if p.Complete || len(p.Gaps) != 1 || p.Made != "2023-11-14T22:13:20Z" {
		t.Errorf("complete %t, gaps %v, made %s", p.Complete, p.Gaps, p.Made)
	}
	pod := on(t, p, "web-5d9c7b8f6d-zz4kf")
	if pod.State != v1alpha1.StateDeleting || pod.DeletingFor != "95s" || pod.Age != "3d" || pod.Ready != "0/1" ||
		len(pod.Finalizers) != 2 || pod.Finalizers[0].Name != "example.com/drain" {
		t.Errorf("the pod is %+v", pod)
	}
	if o := on(t, p, "removed"); o.State != v1alpha1.StateAbsent || !o.Root && o.Parent >= 0 {
		t.Errorf("the absent owner is %+v", o)
	}
	if o := on(t, p, "nightly"); o.State != v1alpha1.StateUnknown || o.Age != "" {
		t.Errorf("the owner in a gap is %+v", o)
	}
	if o := on(t, p, "ring-a"); !o.Cycle {
		t.Errorf("the cycle is not marked: %+v", o)
	}
	edges := edgesOf(p)
	for _, want := range []string{"web -> web-5d9c7b8f6d controller block", "web -> shared", "api -> shared",
		"ring-a -> ring-b", "ring-b -> ring-a", "web -> misnamed WrongName", "web -> elsewhere WrongNamespace"} {
		if !slices.Contains(edges, want) {
			t.Errorf("the page lacks the edge %s; it has\n%s", want, strings.Join(edges, "\n"))
		}
	}
}

func TestAPageHasLinksAndTheOwnersThatItDoesNotShow(t *testing.T) {
	t.Parallel()
	p := render.TreePage("kubectl gc tree", linked(t, nil), nil, false)
	if edges := edgesOf(p); !slices.Contains(edges, "shop -> function link namespace") ||
		!slices.Contains(edges, "services.serving.knative.dev -> function-3 link crd") {
		t.Errorf("the links are %q", edges)
	}
	p = render.TreePage("kubectl gc tree deployment/web", treeOf(t, graph.TreeOptions{Depth: -1}, "web"), nil, false)
	if o := on(t, p, "shared"); len(o.Elsewhere) != 1 || o.Elsewhere[0].Name != "api" {
		t.Errorf("the other owner is not named: %+v", o)
	}
	p = render.TreePage("kubectl gc tree deployment/web --depth 1", treeOf(t, graph.TreeOptions{Depth: 1}, "web"),
		nil, false)
	if o := on(t, p, "web-5d9c7b8f6d"); o.Cut != 2 {
		t.Errorf("%d dependents are said to be left out, want 2", o.Cut)
	}
	p = render.TreePage("kubectl gc tree", nearer(), nil, false)
	if o := on(t, p, "d"); o.Cut != 0 {
		t.Errorf("%d dependents are said to be left out of what is expanded elsewhere", o.Cut)
	}
}

func TestAPageOfAPlanHasWhatItTouchesAndItsSteps(t *testing.T) {
	t.Parallel()
	g := shop().Graph
	roots := ids(t, g, "web")
	planned := render.Plan{Plan: plan.New(g, roots, plan.Background, plan.Options{}),
		Rows: g.Walk(roots, graph.TreeOptions{Depth: -1})}
	hiding := []v1alpha1.Gap{{Resource: "secrets", Reason: v1alpha1.GapForbidden}}
	p := render.PlanPage("kubectl gc delete deployment/web", planned, append(hiding, v1alpha1.Gap{Resource: "nodes"}), now)
	if !p.Complete || len(p.Gaps) != 2 {
		t.Errorf("complete %t with %d gaps, want true with 2: none hides a dependent", p.Complete, len(p.Gaps))
	}
	if p.Plan.Summary != planned.Summary() {
		t.Errorf("the summary is %s", p.Plan.Summary)
	}
	planned.Gaps = hiding
	if p := render.PlanPage("", planned, hiding, now); p.Complete {
		t.Error("a plan with a gap that can hide a dependent is complete")
	}
	for name, want := range map[string]string{"web": "deleted", "web-5d9c7b8f6d": "deleted", "shared": "kept"} {
		if o := on(t, p, name); o.Outcome.Word != want || o.Outcome.Because == "" {
			t.Errorf("%s: %+v, want %s and why", name, o.Outcome, want)
		}
	}
	if o := on(t, p, "web-5d9c7b8f6d-zz4kf"); !strings.Contains(o.Outcome.WaitsFor, "example.com/drain") {
		t.Errorf("the pod waits for %q", o.Outcome.WaitsFor)
	}
	writes := 0
	for n, step := range p.Plan.Steps {
		if want := fmt.Sprintf("wave %d", n+1); step.Name != want {
			t.Errorf("step %d is called %s, want %s", n, step.Name, want)
		}
		writes += len(step.Actions)
	}
	if writes != len(planned.Actions) {
		t.Errorf("the steps have %d writes, and the plan %d", writes, len(planned.Actions))
	}
	if first := p.Plan.Steps[0].Actions; len(first) != 1 || first[0].Verb != "delete" ||
		p.Objects[first[0].Object].Name != "web" || first[0].By != "client" {
		t.Errorf("the first step is %+v", first)
	}
}

// TestAPageOfAPlanHasWhatItTouchesOutsideOfTheTree: a tree that is drawn to a depth does not have
// all objects that something is done to.
func TestAPageOfAPlanHasWhatItTouchesOutsideOfTheTree(t *testing.T) {
	t.Parallel()
	g := shop().Graph
	roots := ids(t, g, "web")
	planned := render.Plan{Plan: plan.New(g, roots, plan.Background, plan.Options{}),
		Rows: g.Walk(roots, graph.TreeOptions{Depth: 0})}
	p := render.PlanPage("kubectl gc delete deployment/web", planned, nil, now)
	if o := on(t, p, "web-5d9c7b8f6d"); o.Outcome.Word != "deleted" || o.Parent != -1 {
		t.Errorf("the ReplicaSet is %+v", o)
	}
	if edges := edgesOf(p); !slices.Contains(edges, "web -> web-5d9c7b8f6d controller block") {
		t.Errorf("the edges are %q", edges)
	}
}
