package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// answers are the formats in which a server has answered.
type answers struct {
	mu    sync.Mutex
	types []string
}

// note wraps a fault, or what passes the request on.
func (a *answers) note(fault faultproxy.Fault) faultproxy.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		fault(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(noting{w, a}, r) }))
	}
}

type noting struct {
	http.ResponseWriter
	answers *answers
}

// WriteHeader implements http.ResponseWriter.
func (n noting) WriteHeader(code int) {
	n.answers.mu.Lock()
	n.answers.types = append(n.answers.types, n.Header().Get("Content-Type"))
	n.answers.mu.Unlock()
	n.ResponseWriter.WriteHeader(code)
}

// Unwrap implements what http.ResponseController asks for.
func (n noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func pass(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }

// TestWatchIsTheSameInBothFormats: what is created, changed and deleted, of built-in types and of a
// custom one, is told alike by watches in protobuf, by those of a server that speaks JSON only, and
// by those that break in the middle of a frame, which are resumed with what was not told yet.
func TestWatchIsTheSameInBothFormats(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, oneVersion))
	var points []ResumePoint
	for _, of := range []graph.Type{
		{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true},
		{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true},
		{Group: group, Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true},
	} {
		client, err := New(c.Config(), 0)
		if err != nil {
			t.Fatal(err)
		}
		at, err := client.ForEachMeta(t.Context(), of, ns, func(*graph.Object) {})
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, at)
	}
	const content = "protobuf;stream=watch"
	sides := map[string]struct {
		fault faultproxy.Fault
		speak string
	}{
		"protobuf": {pass, content},
		"json":     {faultproxy.JSONOnly(), "json"},
		"cut":      {faultproxy.Times(len(points), faultproxy.Truncate(200)), content},
	}
	told := map[string]*heard{}
	spoken := map[string]*answers{}
	ctx, cancel := context.WithCancel(t.Context())
	var watches sync.WaitGroup
	for name, side := range sides {
		proxy := faultproxy.Start(t, c.Config())
		hears := &heard{}
		told[name], spoken[name] = hears, &answers{}
		proxy.On(isWatch, spoken[name].note(side.fault))
		client, err := New(proxy.Config(), 0)
		if err != nil {
			t.Fatal(err)
		}
		watches.Go(func() { _ = client.Watch(ctx, points, hears.changed) })
	}
	c.Apply(t, `
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: `+ns+`, finalizers: [example.com/hold], ownerReferences: [{apiVersion: v1, kind: Node, name: node-1, uid: u1, controller: true}]}
spec: {nodeName: nowhere, terminationGracePeriodSeconds: 3600, automountServiceAccountToken: false, containers: [{name: c, image: example.com/c}]}
---
`+configMaps(ns, 4)+"---\n"+widget(group, "v1", ns, "w"))
	c.Kubectl(t, "delete", "pod", "p", "-n", ns, "--wait=false")
	for _, object := range []string{"configmap/c000", "pod/p", "widgets." + group + "/w"} {
		c.Kubectl(t, "patch", object, "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	}
	c.Kubectl(t, "delete", "pod", "p", "-n", ns, "--force", "--grace-period=0")
	c.Kubectl(t, "delete", "configmap/c000", "-n", ns, "--wait=false")
	c.Kubectl(t, "delete", "widgets."+group, "w", "-n", ns, "--wait=false")
	for name := range sides {
		for _, gone := range []string{"p", "c000", "w"} {
			told[name].until(t, fmt.Sprintf("%s tells that %s is gone", name, gone), func(c Change) bool {
				return c.Gone && c.Object.Name == gone
			})
		}
	}
	cancel()
	watches.Wait()
	byType := func(name string) map[string][]Change {
		all := map[string][]Change{}
		for _, c := range told[name].changes {
			all[c.ResumePoint.Type.Resource] = append(all[c.ResumePoint.Type.Resource], c)
		}
		return all
	}
	want := byType("json")
	if !slices.ContainsFunc(want["pods"], func(c Change) bool { return c.GracePeriodSeconds == 3600 }) ||
		len(want) != len(points) {
		t.Errorf("told were %+v", want)
	}
	for name, side := range sides {
		if diff := cmp.Diff(want, byType(name), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		got := spoken[name].types
		if len(got) < len(points) || slices.ContainsFunc(got,
			func(spoken string) bool { return !strings.Contains(spoken, side.speak) }) {
			t.Errorf("%s: the server has answered in %q", name, got)
		}
		if name == "cut" && len(got) < 2*len(points) {
			t.Errorf("%d watches, of which %d were to be cut", len(got), len(points))
		}
	}
}

// TestAnObjectIsTheSameInBothFormats: one that is read live, and one that was patched, of a
// built-in type and of a custom one. An object that does not exist is proven to be absent in both.
func TestAnObjectIsTheSameInBothFormats(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, oneVersion))
	c.Apply(t, configMaps(ns, 1)+"---\n"+widget(group, "v1", ns, "c000"))
	for _, of := range []graph.Type{
		{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true},
		{Group: group, Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true},
	} {
		got := map[string][]graph.Object{}
		for speak, fault := range map[string]faultproxy.Fault{"protobuf": pass, "json": faultproxy.JSONOnly()} {
			proxy := faultproxy.Start(t, c.Config())
			var spoken answers
			proxy.On(faultproxy.Path("/c000"), spoken.note(fault))
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			read, err := client.GetMeta(t.Context(), of, ns, "c000")
			if err != nil {
				t.Fatal(err)
			}
			patched, err := client.Patch(t.Context(), of, ns, "c000", Unchanged(read.UID, read.ResourceVersion), PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got[speak] = []graph.Object{*read, *patched}
			if slices.ContainsFunc(spoken.types, func(s string) bool { return !strings.Contains(s, speak) }) {
				t.Errorf("%s: the server has answered in %q, want %s", of.Resource, spoken.types, speak)
			}
			if _, err := client.GetMeta(t.Context(), of, ns, "none"); !apierrors.IsNotFound(err) || !IsAbsent(err, of, "none") {
				t.Errorf("%s, %s: error %v", of.Resource, speak, err)
			}
		}
		if diff := cmp.Diff(got["json"], got["protobuf"], cmpopts.EquateEmpty()); diff != "" || got["json"][0].UID == "" {
			t.Errorf("%s: %s", of.Resource, diff)
		}
	}
}
