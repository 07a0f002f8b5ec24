package render_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

var (
	crossplane = &link.Definition{Name: "composite", Recreates: []link.Recreation{{}},
		Deletion: link.Deletion{Of: link.End, By: "Crossplane", Finalizer: "example.com/claim"}}
	hostileCD = &link.Definition{Name: "resource", Recreates: []link.Recreation{{}},
		Deletion: link.Deletion{Of: link.End, By: "Evil\x1b[2JCD", Finalizer: "example.com/app\x1b*"}}
	usage = &link.Definition{Name: "usage", Deletion: link.Deletion{Of: link.Guard, By: "Crossplane"}}
)

// tie is a link between objects by their names.
type tie struct {
	definition  *link.Definition
	source, end string
	effect      link.Effect
	kept        string
}

// planOfLinks plans the deletion of some objects of a cluster in which objects name others.
func planOfLinks(t *testing.T, objects map[graph.Type][]graph.Object, ties []tie, roots ...string) render.Plan {
	t.Helper()
	g := snapshot(objects)
	var found []link.Found
	for _, tie := range ties {
		at := ids(t, g, tie.source, tie.end)
		found = append(found, link.Found{Definition: tie.definition, Source: at[0], End: at[1], Field: "spec.resourceRef",
			Confirmed: true, Effect: tie.effect, Kept: tie.kept, Recreation: tie.definition.RecreatedBy(nil)})
	}
	links := link.New(g, found...)
	p := render.Plan{Plan: plan.New(g, ids(t, g, roots...), plan.Background, plan.Options{Links: links})}
	p.Rows = g.Walk(p.Roots, graph.TreeOptions{Depth: -1, Links: links.Dependents})
	return p
}

func finalized(o graph.Object, finalizers ...string) graph.Object {
	o.Finalizers = finalizers
	return o
}

// TestPlanOfLinks: the table says who deletes what, what is waited for, and why something is kept,
// and the JSON says the same.
func TestPlanOfLinks(t *testing.T) {
	p := planOfLinks(t, map[graph.Type][]graph.Object{
		deployments: {finalized(object("apps", "claim", time.Hour), "example.com/claim"), object("apps", "bare", time.Hour),
			finalized(object("apps", "paused", time.Hour), "example.com/claim")},
		clusterRoles: {object("", "composite", time.Hour), object("", "of-bare", time.Hour),
			object("", "of-paused", time.Hour), object("", "data", time.Hour)},
	}, []tie{
		{crossplane, "claim", "composite", link.Effect{Deletes: true, Policy: link.Foreground, Waits: true}, ""},
		{crossplane, "claim", "data", link.Effect{Deletes: true, Policy: link.Foreground, Waits: true},
			"annotation keep is \x1b[2Jtrue"},
		{crossplane, "bare", "of-bare", link.Effect{Why: "it does not have the finalizer example.com/claim"}, ""},
		{crossplane, "paused", "of-paused", link.Effect{Why: "spec.suspend is tr\x1bue"}, ""},
	}, "claim", "bare", "paused")
	var out bytes.Buffer
	if err := render.PlanTable(&out, p, render.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ClusterRole/composite", "deleted", "Crossplane deletes it, since Deployment apps/claim is deleted",
		"example.com/claim until ClusterRole/composite is gone",
		"Crossplane keeps it: annotation keep is ^[[2Jtrue",
		"Crossplane does not delete it with Deployment apps/bare, which does not have the finalizer example.com/claim",
		"Crossplane does not delete it with Deployment apps/paused: spec.suspend is tr^[ue",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("the table has a control character:\n%q", &out)
	}
	o := p.Printed(nil)
	said := map[string]string{}
	for _, a := range o.Actions {
		if a.Verb == "delete" {
			said[a.Object.Name] = strings.Join([]string{a.By, a.Reason, a.Because}, "; ")
		}
	}
	for _, s := range o.Survivors {
		said[s.Object.Name] = s.Reason
	}
	for _, s := range o.Remaining {
		said["remaining "+s.Object.Name] = s.Because
	}
	want := map[string]string{
		"claim": "client; Requested; it was named", "bare": "client; Requested; it was named",
		"paused":    "client; Requested; it was named",
		"composite": "controller; LinkDeleted; Crossplane deletes it, since Deployment apps/claim is deleted",
		"data":      "LinkKept", "of-bare": "LinkNotSeen", "of-paused": "LinkKept",
		"remaining claim": "it waits for its finalizers", "remaining paused": "it waits for its finalizers",
		"remaining composite": "only Crossplane deletes it, when it acts on the deletion of Deployment apps/claim",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	for _, b := range o.Blockers {
		if b.Object.Name == "claim" &&
			(len(b.Until) != 1 || b.Until[0].Name != "composite" ||
				!strings.HasSuffix(b.Because, "; until ClusterRole composite is gone")) {
			t.Errorf("the claim waits for %+v", b)
		}
	}
}

// TestRemarkOfAGuardThatGoes: the deletion of what a guard keeps is repeated until the guard is gone.
func TestRemarkOfAGuardThatGoes(t *testing.T) {
	p := planOfLinks(t, map[graph.Type][]graph.Object{
		deployments: {finalized(object("apps", "claim", time.Hour), "example.com/claim"),
			finalized(object("apps", "u1", time.Hour), "example.com/hold")},
		clusterRoles: {object("", "composite", time.Hour)},
	}, []tie{
		{crossplane, "claim", "composite", link.Effect{Deletes: true, Policy: link.Background}, ""},
		{usage, "u1", "composite", link.Effect{}, ""},
	}, "claim", "u1")
	want := "Deployment apps/u1 keeps ClusterRole composite: the deletion of ClusterRole composite is refused until the " +
		"Deployment is deleted, as it is here; the delete is sent again then"
	if got := p.Remarks(); !slices.Contains(got, want) {
		t.Errorf("remarks %q, want %q among them", got, want)
	}
}

// TestRemarksOfLinks: what comes back and what is guarded, a line for each object that names
// others, with text of objects and packs escaped.
func TestRemarksOfLinks(t *testing.T) {
	deletes := link.Effect{Deletes: true, Policy: link.Background}
	p := planOfLinks(t, map[graph.Type][]graph.Object{
		deployments: {object("apps", "claim", time.Hour), object("argocd", "app\x1b", time.Hour),
			object("apps", "u1", time.Hour), object("apps", "u2", time.Hour)},
		clusterRoles: {object("", "composite", time.Hour)},
		configMaps:   {object("apps", "a", time.Hour), object("apps", "b", time.Hour), object("apps", "other", time.Hour)},
	}, []tie{
		{crossplane, "claim", "composite", deletes, ""},
		{hostileCD, "app\x1b", "a", deletes, ""},
		{hostileCD, "app\x1b", "b", deletes, ""},
		{hostileCD, "app\x1b", "other", deletes, ""},
		{usage, "u1", "composite", link.Effect{}, ""},
		{usage, "u2", "composite", link.Effect{}, ""},
	}, "composite", "a", "b")
	want := []string{
		"Deployment apps/u1 keeps ClusterRole composite: the deletion of ClusterRole composite is refused until the Deployment is deleted",
		"Deployment apps/u2 keeps ClusterRole composite: the deletion of ClusterRole composite is refused until the Deployment is deleted",
		"ClusterRole composite is deleted, and Crossplane creates it again, because Deployment apps/claim names it in spec.resourceRef; delete that instead",
		"ConfigMap apps/a, ConfigMap apps/b are deleted, and Evil^[[2JCD creates them again, because Deployment argocd/app^[ names them in spec.resourceRef; remove them from that instead",
	}
	slices.Sort(want)
	got := p.Remarks()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
	o := p.Printed(nil)
	if len(o.Recreated) != 3 || len(o.Guarded) != 2 || o.Guarded[0].Object.Name != "composite" ||
		o.Guarded[0].Guard.Name != "u1" {
		t.Errorf("recreated %+v, guarded %+v", o.Recreated, o.Guarded)
	}
	for _, r := range o.Recreated {
		if r.Object.Name == "composite" &&
			(r.Owner.Name != "claim" || r.Program != "Crossplane" || r.Field != "spec.resourceRef") {
			t.Errorf("recreated %+v", r)
		}
	}
}

// TestOrderOfAForegroundByLink: what a program deletes in the foreground loses its dependents
// before its finalizers are honoured, whatever policy was asked for.
func TestOrderOfAForegroundByLink(t *testing.T) {
	for policy, want := range map[link.Policy]string{
		link.Foreground: "Crossplane deletes in the foreground: the dependents of Deployment/composite are deleted before the controllers of its finalizers act",
		link.Background: "",
	} {
		p := planOfLinks(t, map[graph.Type][]graph.Object{
			deployments: {finalized(object("apps", "claim", time.Hour), "example.com/claim"),
				finalized(object("apps", "composite", time.Hour), "example.com/hold")},
			configMaps: {object("apps", "usage", time.Hour, controller(deployments, "composite"))},
		}, []tie{{crossplane, "claim", "composite", link.Effect{Deletes: true, Policy: policy}, ""}}, "claim")
		if got := slices.Contains(p.Remarks(), want); got != (want != "") || want == "" &&
			strings.Contains(strings.Join(p.Remarks(), "\n"), "in the foreground") {
			t.Errorf("%s: remarks %q, want %q", policy, p.Remarks(), want)
		}
	}
}

// TestEachLinkReasonHasASentence where nothing is known of the link.
func TestEachLinkReasonHasASentence(t *testing.T) {
	p := planOfLinks(t, map[graph.Type][]graph.Object{deployments: {object("apps", "claim", time.Hour)}}, nil, "claim")
	for _, code := range []plan.ReasonCode{plan.LinkDeleted, plan.LinkPending, plan.LinkWaits, plan.LinkKept,
		plan.LinkNotSeen} {
		because := plan.Reason{Code: code, Cause: p.Roots[0], HasCause: true}
		if s := because.Sentence(p.Graph, p.Roots[0]); !strings.Contains(s, "Deployment/claim") {
			t.Errorf("%s: %q", code, s)
		}
		if s := p.Because(p.Roots[0], plan.Reason{Code: code}); s == "" {
			t.Errorf("%s without a cause says nothing", code)
		}
	}
}
