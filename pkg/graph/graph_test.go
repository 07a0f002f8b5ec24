package graph_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestAccessors: a node gives back what its object had.
func TestAccessors(t *testing.T) {
	o := object("a", "pod",
		graph.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "uid-rs", Controller: true,
			Block: true},
		graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "map", UID: "uid-map"})
	o.ResourceVersion, o.Generation, o.CreationTimestamp, o.Selected = "42", 7, 1700000000, true
	o.Finalizers = []string{"z", "a"}
	g := build(list(pods, o), list(replicaSets, object("a", "rs")), list(configMaps, object("a", "map")))
	id := node(t, g, "pod")
	if want := (graph.Ref{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "a", Name: "pod",
		UID: "uid-pod"}); g.Ref(id) != want {
		t.Errorf("ref %+v, want %+v", g.Ref(id), want)
	}
	if typ, ok := g.Type(id); !ok || typ != pods {
		t.Errorf("type %v, %v", typ, ok)
	}
	if g.ResourceVersion(id) != "42" || g.Generation(id) != 7 || g.CreationTimestamp(id) != 1700000000 ||
		g.DeletionTimestamp(id) != 0 || !g.Selected(id) || g.State(id) != graph.Active {
		t.Errorf("not what was added: %s", dump(g))
	}
	if !slices.Equal(g.Finalizers(id), []string{"z", "a"}) {
		t.Errorf("finalizers %v are not in the object's order", g.Finalizers(id))
	}
	want := []graph.Edge{
		{Owner: node(t, g, "rs"), Dependent: id, APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", Controller: true,
			Block: true},
		{Index: 1, Owner: node(t, g, "map"), Dependent: id, APIVersion: "v1", Kind: "ConfigMap", Name: "map"},
	}
	if got := slices.Collect(g.Owners(id)); !slices.Equal(got, want) {
		t.Errorf("owners %+v, want %+v in the object's order", got, want)
	}
	if got := slices.Collect(g.Dependents(node(t, g, "map"))); !slices.Equal(got, want[1:]) {
		t.Errorf("dependents %+v, want %+v", got, want[1:])
	}
	if rs := node(t, g, "rs"); g.Ref(rs).Group() != "apps" || g.Ref(id).Group() != "" {
		t.Errorf("groups %q and %q", g.Ref(rs).Group(), g.Ref(id).Group())
	}
}

// TestIterationStops: an iterator that is left early does not go on.
func TestIterationStops(t *testing.T) {
	g := build(list(pods, object("a", "one", ref(configMaps, "x"), ref(configMaps, "y")),
		object("a", "two", ref(configMaps, "x"))))
	count := 0
	for range g.Owners(node(t, g, "one")) {
		count++
		break
	}
	for range g.Dependents(node(t, g, "x")) {
		count++
		break
	}
	if count != 2 {
		t.Errorf("%d steps, want 2", count)
	}
}

// TestDuplicateReferences: two references of one object to one uid are two edges (the collector
// lets them collapse to the last only on an update, GC-024).
func TestDuplicateReferences(t *testing.T) {
	g := build(list(pods, object("a", "pod", ref(configMaps, "map"), ref(configMaps, "map"))),
		list(configMaps, object("a", "map")))
	if n := g.OwnerCount(node(t, g, "pod")); n != 2 {
		t.Errorf("%d owners, want 2", n)
	}
	if n := g.DependentCount(node(t, g, "map")); n != 2 {
		t.Errorf("%d dependents, want 2", n)
	}
	rows := g.Tree(nodes(t, g, "map"), graph.TreeOptions{Depth: -1})
	if len(rows) != 2 {
		t.Errorf("%d rows, want 2: the object is one", len(rows))
	}
}

func TestFind(t *testing.T) {
	first, second := object("a", "web"), object("a", "web")
	first.UID, first.CreationTimestamp = "uid-z", 100
	second.UID, second.CreationTimestamp = "uid-b", 200
	third := object("b", "web")
	third.UID = "uid-c"
	deployment := object("a", "web")
	deployment.UID = "uid-d"
	for _, order := range [][]graph.Object{{first, second, third}, {third, second, first}} {
		g := build(list(pods, order...), list(deployments, deployment), list(roles, object("", "admin")),
			list(secrets, object("a", "secret", ref(configMaps, "gone"))))
		tests := []struct {
			name                        string
			group, resource, space, obj string
			want                        string
		}{
			{"replaced while it was listed: the later", "", "pods", "a", "web", "uid-b"},
			{"in another namespace", "", "pods", "b", "web", "uid-c"},
			{"of another type", "apps", "deployments", "a", "web", "uid-d"},
			{"cluster-scoped", "rbac.authorization.k8s.io", "clusterroles", "", "admin", "uid-admin"},
			{"another group", "apps", "pods", "a", "web", ""},
			{"no such namespace", "", "pods", "ab", "web", ""},
			{"no such name", "", "pods", "a", "we", ""},
			{"only referenced", "", "configmaps", "a", "gone", ""},
		}
		for _, tt := range tests {
			id, ok := g.Find(tt.group, tt.resource, tt.space, tt.obj)
			if ok != (tt.want != "") || ok && g.Ref(id).UID != tt.want {
				t.Errorf("%s: found %v %q, want %q", tt.name, ok, g.Ref(id).UID, tt.want)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	g := build(list(pods, object("a", "pod", ref(configMaps, "gone"))))
	for _, name := range []string{"pod", "gone"} {
		if got := g.Ref(node(t, g, name)).Name; got != name {
			t.Errorf("looked up %s and got %s", name, got)
		}
	}
	if _, ok := g.Lookup("uid-nobody"); ok {
		t.Error("found what is not there")
	}
}

// TestOrder: namespace, group, kind, name, uid; virtual nodes among the others.
func TestOrder(t *testing.T) {
	twin := object("a", "b")
	twin.UID = "uid-0"
	g := build(
		list(pods, object("b", "z", ref(replicaSets, "missing")), object("a", "b"), twin, object("a", "a")),
		list(deployments, object("a", "d")), list(configMaps, object("a", "map")), list(roles, object("", "role")),
	)
	var got []string
	for i := range g.Len() {
		r := g.Ref(graph.ID(i))
		got = append(got, r.Namespace+"/"+r.Kind+"/"+r.UID)
	}
	want := []string{
		"/ClusterRole/uid-role",
		"a/ConfigMap/uid-map", "a/Pod/uid-a", "a/Pod/uid-0", "a/Pod/uid-b", "a/Deployment/uid-d",
		"b/Pod/uid-z", "b/ReplicaSet/uid-missing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
