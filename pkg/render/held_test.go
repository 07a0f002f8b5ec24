package render_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// held plans the deletion of an application whose dependents finalizers hold.
func held(t *testing.T) render.Plan {
	t.Helper()
	packs, err := plugins.Packs()
	if err != nil {
		t.Fatal(err)
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		t.Fatal(err)
	}
	with := func(o graph.Object, finalizers ...string) graph.Object {
		o.Finalizers = finalizers
		return o
	}
	app := ref(deployments, "app")
	g := snapshot(map[graph.Type][]graph.Object{
		deployments: {object("shop", "app", time.Hour)},
		claims: {
			with(object("shop", "data", time.Hour, app), "kubernetes.io/pvc-protection"),
			with(object("shop", "logs", time.Hour, app), "kubernetes.io/pvc-protection"),
		},
		configMaps: {with(object("shop", "settings", time.Hour, app), "example.com/hold")},
		services: {with(object("shop", "web", time.Hour, app), "example.com/hold",
			"service.kubernetes.io/load-balancer-cleanup", "service.k8s.aws/resources")},
	})
	id, ok := g.Find("apps", "deployments", "shop", "app")
	if !ok {
		t.Fatal("no deployment")
	}
	p := plan.New(g, []graph.ID{id}, plan.Background, plan.Options{})
	return render.Plan{Plan: p, Rows: g.Walk([]graph.ID{id}, graph.TreeOptions{Depth: -1}), Known: known}
}

// TestAnOwnerSaysWhatItWaitsFor: a namespace and an owner that is deleted in the foreground have no
// finalizer of others, and wait all the same for what has one.
func TestAnOwnerSaysWhatItWaitsFor(t *testing.T) {
	owner := ref(deployments, "app")
	owner.Block = true
	settings := object("shop", "settings", time.Hour, owner)
	settings.Finalizers = []string{"example.com/hold"}
	g := snapshot(map[graph.Type][]graph.Object{
		namespaces: {object("", "shop", time.Hour)}, deployments: {object("shop", "app", time.Hour)},
		configMaps: {settings}, claims: {object("shop", "data", time.Hour, owner)},
	})
	app, _ := g.Find("apps", "deployments", "shop", "app")
	shop, _ := g.Find("", "namespaces", "", "shop")
	for _, root := range []graph.ID{app, shop} {
		p := plan.New(g, []graph.ID{root}, plan.Foreground, plan.Options{Links: link.New(g)})
		var out bytes.Buffer
		rows := g.Walk([]graph.ID{root}, graph.TreeOptions{Depth: -1})
		if err := render.PlanTable(&out, render.Plan{Plan: p, Rows: rows}, render.Style{}); err != nil {
			t.Fatal(err)
		}
		if want := "until ConfigMap/settings is gone"; strings.Count(out.String(), want) != 1 {
			t.Errorf("%s does not say that it waits %s:\n%s", g.Ref(root).KindName(), want, out.String())
		}
	}
}

const (
	protects = "the PVC protection controller keeps the claim while a scheduled pod uses it, even a completed one, then removes the finalizer"
	balances = "service.kubernetes.io/load-balancer-cleanup: the service controller deletes the load balancer in the cloud, then removes the finalizer"
	routes   = "service.k8s.aws/resources: AWS Load Balancer Controller deletes the NLB, the target groups and the security groups of the Service, then removes the finalizer"
)

// TestHeldIsExplained: whoever removes a finalizer is named when it is known, and what it does.
func TestHeldIsExplained(t *testing.T) {
	p := held(t)
	got := map[string]string{}
	for _, b := range p.Printed(nil).Blockers {
		got[b.Object.Kind+"/"+b.Object.Name] = b.Because
	}
	if diff := cmp.Diff(map[string]string{
		"PersistentVolumeClaim/data": protects,
		"PersistentVolumeClaim/logs": protects,
		"ConfigMap/settings":         "the controller that added example.com/hold has to remove it",
		"Service/web": balances + "; " + routes +
			"; the controller that added example.com/hold has to remove it",
	}, got); diff != "" {
		t.Error(diff)
	}

	var out bytes.Buffer
	if err := render.PlanTable(&out, p, render.Style{}); err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(out.String(),
		"example.com/hold,service.kubernetes.io/load-balancer-cleanup,service.k8s.aws/resources")
	if !found {
		t.Fatalf("the table does not name the finalizers:\n%s", out.String())
	}
	_, below, _ = strings.Cut(below, "\n")
	want := p.Summary() + "\nkubernetes.io/pvc-protection: " + protects + "\n" + balances + "\n" + routes + "\n"
	if diff := cmp.Diff(want, below); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(p.Summary(), "controller") {
		t.Errorf("the summary does not stay short: %s", p.Summary())
	}

	p.Known = nil
	for _, b := range p.Printed(nil).Blockers {
		if !strings.HasPrefix(b.Because, "the controller that added ") {
			t.Errorf("nothing is known, and yet: %s", b.Because)
		}
	}
}
