package graph_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestProblems holds one reference of one dependent against a server that has a ReplicaSet and a
// Widget in namespace a and a ClusterRole.
func TestProblems(t *testing.T) {
	with := func(r graph.OwnerReference, change func(*graph.OwnerReference)) graph.OwnerReference {
		change(&r)
		return r
	}
	rs := ref(replicaSets, "rs")
	tests := []struct {
		name      string
		dependent graph.Type
		namespace string
		ref       graph.OwnerReference
		want      graph.Problem
	}{
		{"valid", pods, "a", rs, 0},
		{"valid, cluster-scoped owner (GC-047)", pods, "a", ref(roles, "role"), 0},
		{"valid, both cluster-scoped", namespaces, "", ref(roles, "role"), 0},
		{"another version that is served", pods, "a", ref(widgetsBeta, "widget"), 0},
		{"lower-case kind (X-07)", pods, "a", with(rs, func(r *graph.OwnerReference) { r.Kind = "replicaset" }),
			graph.InexactKind},
		{"kind of the list (API-057)", pods, "a", with(rs, func(r *graph.OwnerReference) { r.Kind = "ReplicaSetList" }),
			graph.Unresolvable},
		{"other namespace (GC-047)", pods, "b", rs, graph.WrongNamespace},
		{"wrong name (GC-046)", pods, "a", with(rs, func(r *graph.OwnerReference) { r.Name = "other" }), graph.WrongName},
		{"wrong kind", pods, "a", with(rs, func(r *graph.OwnerReference) { r.Kind = "Deployment" }), graph.WrongKind},
		{"wrong group of the same kind", pods, "a",
			with(ref(widgets, "widget"), func(r *graph.OwnerReference) { r.APIVersion = mirrors.APIVersion() }),
			graph.WrongKind},
		{"kind not served (GC-050)", pods, "a", with(rs, func(r *graph.OwnerReference) { r.Kind = "Replicaset" }),
			graph.Unresolvable},
		{"group not served (GC-050)", pods, "a", with(rs, func(r *graph.OwnerReference) { r.APIVersion = "extensions/v1" }),
			graph.Unresolvable},
		{"version not served (GC-050)", pods, "a", with(rs, func(r *graph.OwnerReference) { r.APIVersion = "apps/v1beta1" }),
			graph.Unresolvable},
		{"apiVersion with two slashes", pods, "a", with(rs, func(r *graph.OwnerReference) { r.APIVersion = "apps/v1/x" }),
			graph.Unresolvable},
		{"nothing but the uid", pods, "a", graph.OwnerReference{UID: rs.UID}, graph.Unresolvable | graph.WrongName},
		{"namespaced owner of a cluster-scoped object (GC-048)", namespaces, "", rs, graph.WrongScope},
		{"self (GC-064)", pods, "a", ref(pods, "dependent"), graph.SelfReference},
		{"self under another name", pods, "a",
			with(ref(pods, "dependent"), func(r *graph.OwnerReference) { r.Name = "other" }),
			graph.SelfReference | graph.WrongName},
		{"everything at once", pods, "b", graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: rs.UID},
			graph.WrongNamespace | graph.WrongName | graph.WrongKind},
		{"namespaced kind with the uid of a cluster-scoped object, from a cluster-scoped one (GC-048)", namespaces, "",
			ref(configMaps, "role"), graph.WrongScope | graph.WrongKind},
		{"cluster-scoped kind with the uid of a namespaced object, from a cluster-scoped one (GC-047)", namespaces, "",
			ref(roles, "rs"), graph.WrongKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(
				list(replicaSets, object("a", "rs")), list(widgets, object("a", "widget")), list(roles, object("", "role")),
				list(tt.dependent, object(tt.namespace, "dependent", tt.ref)),
			)
			edges := slices.Collect(g.Owners(node(t, g, "dependent")))
			if len(edges) != 1 {
				t.Fatalf("got %d owners, want 1", len(edges))
			}
			if got := edges[0].Problem; got != tt.want {
				t.Errorf("got %v, want %v", got.Names(), tt.want.Names())
			}
		})
	}
}

// TestReferencedOwner looks at an owner that no listing had: Absent takes a complete listing of the
// type in the scope in which the collector would look; everything else is Unknown.
func TestReferencedOwner(t *testing.T) {
	gone, goneRole := ref(configMaps, "gone"), ref(roles, "gone")
	inA := object("a", "dependent", gone)
	tests := []struct {
		name      string
		dependent listing
		others    []listing
		want      graph.State
		problem   graph.Problem
	}{
		{"type never listed", list(pods, inA), nil, graph.Unknown, 0},
		{"listed everywhere", list(pods, inA), []listing{list(configMaps)}, graph.Absent, 0},
		{"listed everywhere, with others in it", list(pods, inA), []listing{list(configMaps, object("a", "other"))},
			graph.Absent, 0},
		{"listed in the namespace", list(pods, inA), []listing{{Type: configMaps, scope: "a"}}, graph.Absent, 0},
		{"listed in another namespace", list(pods, inA), []listing{{Type: configMaps, scope: "b"}}, graph.Unknown, 0},
		{"listing not complete", list(pods, inA), []listing{{Type: configMaps, outcome: partial}}, graph.Unknown, 0},
		{"listing discarded", list(pods, inA), []listing{{Type: configMaps, outcome: discarded}}, graph.Unknown, 0},
		{"listing discarded and begun again", list(pods, inA),
			[]listing{{Type: configMaps, outcome: discarded}, list(configMaps)}, graph.Absent, 0},
		{"incomplete everywhere, complete in the namespace", list(pods, inA),
			[]listing{{Type: configMaps, outcome: partial}, {Type: configMaps, scope: "a"}}, graph.Absent, 0},
		{"in the discarded listing only", list(pods, inA),
			[]listing{{Type: configMaps, objects: []graph.Object{object("a", "gone")}, outcome: discarded}, list(configMaps)},
			graph.Absent, 0},
		{"cluster-scoped, listed", list(pods, object("a", "dependent", goneRole)), []listing{list(roles)}, graph.Absent, 0},
		{"cluster-scoped, not listed", list(pods, object("a", "dependent", goneRole)), nil, graph.Unknown, 0},
		{"another version was listed", list(pods, object("a", "dependent", ref(widgetsBeta, "gone"))),
			[]listing{list(widgets)}, graph.Absent, 0},
		{"listed in another version", list(pods, object("a", "dependent", ref(widgets, "gone"))),
			[]listing{list(widgetsBeta)}, graph.Absent, 0},
		{"one of two resources of the kind listed", list(pods, object("a", "dependent", ref(gadgets, "gone"))),
			[]listing{list(gadgets)}, graph.Unknown, graph.InexactKind},
		{"both resources of the kind listed", list(pods, object("a", "dependent", ref(gadgets, "gone"))),
			[]listing{list(gizmos), list(gadgets)}, graph.Absent, graph.InexactKind},
		{"kind not served (GC-050)", list(pods,
			object("a", "dependent", graph.OwnerReference{APIVersion: "v1", Kind: "Podd", Name: "gone", UID: "uid-gone"})),
			[]listing{list(pods)}, graph.Unknown, graph.Unresolvable},
		{"version not served (GC-050)",
			list(pods, object("a", "dependent",
				graph.OwnerReference{APIVersion: "v2", Kind: "Pod", Name: "gone", UID: "uid-gone"})), []listing{list(pods)},
			graph.Unknown, graph.Unresolvable},
		{"of a cluster-scoped object, listed everywhere (GC-048)", list(namespaces, object("", "dependent", gone)),
			[]listing{list(configMaps)}, graph.Absent, graph.WrongScope},
		{"of a cluster-scoped object, listed in one namespace (GC-048)", list(namespaces, object("", "dependent", gone)),
			[]listing{{Type: configMaps, scope: "a"}}, graph.Unknown, graph.WrongScope},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range [][]listing{append([]listing{tt.dependent}, tt.others...),
				append(slices.Clone(tt.others), tt.dependent)} {
				g := build(order...)
				owner := node(t, g, "gone")
				if g.Observed(owner) {
					t.Error("the owner counts as seen")
				}
				if got := g.State(owner); got != tt.want {
					t.Errorf("state %d, want %d", got, tt.want)
				}
				for e := range g.Owners(node(t, g, "dependent")) {
					if e.Problem != tt.problem {
						t.Errorf("problems %v, want %v", e.Problem.Names(), tt.problem.Names())
					}
				}
			}
		})
	}
}

// TestReferencedTwice is about one uid that is named with different coordinates: it is absent only
// if it is absent wherever it is said to be, and goes by the least of its names whichever was added
// first (GC-029's order).
func TestReferencedTwice(t *testing.T) {
	asConfigMap := object("a", "one",
		graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "y", UID: "uid-gone"})
	asSecret := object("a", "two", graph.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "x", UID: "uid-gone"})
	elsewhere := object("b", "three",
		graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "y", UID: "uid-gone"})
	tests := []struct {
		name string
		pods []graph.Object
		seen []listing
		want graph.State
	}{
		{"both listed", []graph.Object{asConfigMap, asSecret}, []listing{list(configMaps), list(secrets)}, graph.Absent},
		{"one listed", []graph.Object{asConfigMap, asSecret}, []listing{list(configMaps)}, graph.Unknown},
		{"the other listed", []graph.Object{asConfigMap, asSecret}, []listing{list(secrets)}, graph.Unknown},
		{"listed in one of the namespaces", []graph.Object{asConfigMap, elsewhere}, []listing{{Type: configMaps, scope: "a"}},
			graph.Unknown},
		{"listed in both namespaces", []graph.Object{asConfigMap, elsewhere},
			[]listing{{Type: configMaps, scope: "a"}, {Type: configMaps, scope: "b"}}, graph.Absent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				slices.Reverse(tt.pods)
				g := build(append(tt.seen, list(pods, tt.pods...))...)
				owner := node(t, g, "gone")
				if got := g.State(owner); got != tt.want {
					t.Errorf("state %d, want %d", got, tt.want)
				}
				want := graph.Ref{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "a", Name: "y",
					UID: "uid-gone"}
				if got := g.Ref(owner); got != want {
					t.Errorf("ref %+v, want %+v", got, want)
				}
			}
		})
	}
}

// TestVirtualNamespace: a virtual owner is where its dependent is, unless its kind is known to be
// in no namespace (GC-021 puts it there in any case; this graph knows scopes).
func TestVirtualNamespace(t *testing.T) {
	g := build(list(pods,
		object("a", "one", ref(configMaps, "map")), object("a", "two", ref(roles, "role")),
		object("a", "three", graph.OwnerReference{APIVersion: "nowhere/v1", Kind: "Thing", Name: "thing", UID: "uid-thing"})))
	for name, want := range map[string]graph.Ref{
		"map": {APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "a", Name: "map", UID: "uid-map"},
		"role": {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Resource: "clusterroles", Name: "role",
			UID: "uid-role"},
		"thing": {APIVersion: "nowhere/v1", Kind: "Thing", Namespace: "a", Name: "thing", UID: "uid-thing"},
	} {
		if got := g.Ref(node(t, g, name)); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if typ, ok := g.Type(node(t, g, "thing")); ok {
		t.Errorf("a kind that is not served has type %v", typ)
	}
	if typ, ok := g.Type(node(t, g, "map")); !ok || typ != configMaps {
		t.Errorf("the type of the absent config map is %v, %v", typ, ok)
	}
}

// TestKindNamedLikeAList: a kind that is spelled like another's list or in lower case means itself.
func TestKindNamedLikeAList(t *testing.T) {
	widgetList := graph.Type{Group: "example.com", Version: "v1", Resource: "widgetlists", Kind: "WidgetList",
		Namespaced: true}
	for _, first := range []bool{true, false} {
		b := newBuilder()
		if first {
			b = graph.NewBuilder()
			b.Serve(widgetList)
			b.Serve(widgets)
			b.Serve(pods)
		} else {
			b.Serve(widgetList)
		}
		list(widgetList, object("a", "list")).add(b)
		list(pods, object("a", "pod", ref(widgetList, "list"))).add(b)
		g := b.Build()
		for e := range g.Owners(node(t, g, "pod")) {
			if e.Problem != 0 {
				t.Errorf("served first %v: problems %v", first, e.Problem.Names())
			}
		}
	}
}

func TestProblemNames(t *testing.T) {
	all := graph.WrongNamespace | graph.WrongScope | graph.WrongName | graph.WrongKind | graph.Unresolvable | graph.SelfReference
	want := []string{"WrongNamespace", "WrongScope", "WrongName", "WrongKind", "Unresolvable", "SelfReference"}
	if got := all.Names(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := graph.Problem(0).Names(); got != nil {
		t.Errorf("no problem has names %v", got)
	}
}
