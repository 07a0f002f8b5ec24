package render_test

import (
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

var (
	namespaces = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	pods       = graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	claims     = graph.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim",
		Namespaced: true}
	deployments  = graph.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	replicaSets  = graph.Type{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true}
	clusterRoles = graph.Type{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles",
		Kind: "ClusterRole"}
	definitions = graph.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Kind: "CustomResourceDefinition"}
	services = graph.Type{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true}
	knative  = graph.Type{Group: "serving.knative.dev", Version: "v1", Resource: "services", Kind: "Service",
		Namespaced: true}
	// never listed
	backups = graph.Type{Group: "example.com", Version: "v1", Resource: "backups", Kind: "Backup", Namespaced: true}
)

// now is what the ages of the fixtures are measured against.
var now = time.Unix(1_700_000_000, 0).UTC()

// object returns an object that is as old as it says; its uid is made from its name.
func object(namespace, name string, age time.Duration, owners ...graph.OwnerReference) graph.Object {
	return graph.Object{Namespace: namespace, Name: name, UID: "uid-" + name, ResourceVersion: "1",
		CreationTimestamp: now.Add(-age).Unix(), Owners: owners}
}

// deleting says that the object is being deleted, since when and what holds it.
func deleting(o graph.Object, since time.Duration, finalizers ...string) graph.Object {
	o.DeletionTimestamp, o.Finalizers = now.Add(-since).Unix(), finalizers
	return o
}

func ref(t graph.Type, name string) graph.OwnerReference {
	return graph.OwnerReference{APIVersion: t.APIVersion(), Kind: t.Kind, Name: name, UID: "uid-" + name}
}

// controller is a reference as the controllers of Kubernetes make it.
func controller(t graph.Type, name string) graph.OwnerReference {
	r := ref(t, name)
	r.Controller, r.Block = true, true
	return r
}

// snapshot builds the graph of complete listings.
func snapshot(listings map[graph.Type][]graph.Object) *graph.Graph {
	b := graph.NewBuilder()
	b.Serve(backups)
	for _, t := range []graph.Type{namespaces, pods, configMaps, claims, deployments, replicaSets, clusterRoles,
		definitions, services, knative} {
		b.Serve(t)
		l := b.Listing(t, "")
		l.Add(listings[t]...)
		l.Complete()
	}
	return b.Build()
}

// shop is a cluster with a bit of everything that a tree shows.
func shop() render.Tree {
	const day = 24 * time.Hour
	wrong := ref(deployments, "web")
	wrong.Name = "website"
	g := snapshot(map[graph.Type][]graph.Object{
		deployments: {object("shop", "web", 40*day), object("shop", "api", 41*day)},
		replicaSets: {object("shop", "web-5d9c7b8f6d", 3*day, controller(deployments, "web"))},
		pods: {
			object("shop", "web-5d9c7b8f6d-x2lq9", 3*day, controller(replicaSets, "web-5d9c7b8f6d")),
			deleting(object("shop", "web-5d9c7b8f6d-zz4kf", 3*day, controller(replicaSets, "web-5d9c7b8f6d")), 95*time.Second,
				"example.com/drain", "batch.kubernetes.io/job-tracking"),
			deleting(object("shop", "leaving", time.Hour), -20*time.Second),
		},
		configMaps: {
			object("shop", "shared", 20*day, ref(deployments, "web"), ref(deployments, "api")),
			object("shop", "under-shared", 20*day, ref(configMaps, "shared")),
			object("shop", "ring-a", 5*time.Hour, ref(configMaps, "ring-b")),
			object("shop", "ring-b", 5*time.Hour, ref(configMaps, "ring-a")),
			object("shop", "left-behind", 200*day, controller(deployments, "removed")),
			object("shop", "of-backup", 10*day, controller(backups, "nightly")),
			object("other", "elsewhere", 10*day, ref(deployments, "web")),
			object("shop", "misnamed", 10*day, wrong),
		},
		claims: {
			deleting(object("shop", "data", 100*day, ref(deployments, "api")), 26*time.Hour, "kubernetes.io/pvc-protection"),
			deleting(object("shop", "logs", 100*day, ref(deployments, "api")), 26*time.Hour,
				"external-provisioner.volume.kubernetes.io/finalizer-of-great-length"),
		},
		services: {object("shop", "front", 40*day)},
		knative:  {object("shop", "function", 40*day), object("shop", "function-2", 40*day, ref(knative, "function"))},
	})
	t := render.Tree{Graph: g, Now: now, Readings: map[graph.ID]graph.PrinterColumns{}}
	t.Rows = g.Tree(g.Roots(), graph.TreeOptions{Depth: -1})
	for name, reading := range map[string]graph.PrinterColumns{
		"web": {Ready: "2/3"}, "api": {Ready: "0/1"}, "web-5d9c7b8f6d": {Ready: "2/3"},
		"web-5d9c7b8f6d-x2lq9": {Ready: "1/1", Status: "Running"},
		"web-5d9c7b8f6d-zz4kf": {Ready: "0/1", Status: "Terminating"},
		"data":                 {Status: "Terminating"},
	} {
		id, _ := g.Lookup("uid-" + name)
		t.Readings[id] = reading
	}
	return t
}

// treeOf returns the tree of some roots of the shop.
func treeOf(t testing.TB, opts graph.TreeOptions, roots ...string) render.Tree {
	t.Helper()
	tree := shop()
	tree.Rows = tree.Graph.Tree(ids(t, tree.Graph, roots...), opts)
	return tree
}

// nearer is a tree in which an object is cut by the depth where it comes first and expanded where
// it comes again.
func nearer() render.Tree {
	g := snapshot(map[graph.Type][]graph.Object{configMaps: {
		object("shop", "a", time.Hour), object("shop", "b", time.Hour, ref(configMaps, "a")), object("shop", "c", time.Hour),
		object("shop", "d", time.Hour, ref(configMaps, "b"), ref(configMaps, "c")),
		object("shop", "e", time.Hour, ref(configMaps, "d")),
	}})
	return render.Tree{Graph: g, Rows: g.Tree(g.Roots(), graph.TreeOptions{Depth: 2}), Now: now}
}

// ids finds objects by the names that their uids are made from.
func ids(t testing.TB, g *graph.Graph, names ...string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for _, name := range names {
		id, ok := g.Lookup("uid-" + name)
		if !ok {
			t.Fatalf("no object %s", name)
		}
		ids = append(ids, id)
	}
	return ids
}

// linked is a definition with its instances, and a namespace with one of them.
func linked(t testing.TB, show func(graph.Ref) bool) render.Tree {
	t.Helper()
	g := snapshot(map[graph.Type][]graph.Object{
		definitions: {object("", "services.serving.knative.dev", time.Hour)},
		namespaces:  {object("", "shop", time.Hour)},
		knative:     {object("shop", "function", time.Hour), object("other", "function-3", time.Hour)},
		configMaps:  {object("shop", "settings", time.Hour, ref(knative, "function"))},
	})
	roots := ids(t, g, "services.serving.knative.dev", "shop")
	instances := ids(t, g, "function-3", "function")
	links := func(id graph.ID) []graph.Link {
		switch id {
		case roots[0]:
			return []graph.Link{{Owner: id, Dependent: instances[0], Rule: "crd"},
				{Owner: id, Dependent: instances[1], Rule: "crd"}}
		case roots[1]:
			return []graph.Link{{Owner: id, Dependent: instances[1], Rule: "namespace"}}
		}
		return nil
	}
	opts := graph.TreeOptions{Depth: -1, Links: links}
	if show != nil {
		opts.Show = func(id graph.ID) bool { return show(g.Ref(id)) }
	}
	return render.Tree{Graph: g, Rows: g.Tree(roots, opts), Now: now}
}

// claimed is an object that names another in its content, which owns one and names two more, one of
// them a second time.
func claimed(t testing.TB) render.Tree {
	t.Helper()
	g := snapshot(map[graph.Type][]graph.Object{
		knative: {object("shop", "claim", time.Hour), object("other", "composite", time.Hour)},
		configMaps: {object("other", "composed", time.Hour, controller(knative, "composite")),
			object("shop", "settings", time.Hour), object("shop", "usage", time.Hour)},
	})
	all := ids(t, g, "claim", "composite", "settings", "usage")
	claim, composite, settings, usage := all[0], all[1], all[2], all[3]
	links := func(id graph.ID) []graph.Link {
		switch id {
		case claim:
			return []graph.Link{{Owner: id, Dependent: composite, Rule: "composite"},
				{Owner: id, Dependent: settings, Rule: "connection"}}
		case composite:
			return []graph.Link{{Owner: id, Dependent: settings, Rule: "connection"},
				{Owner: id, Dependent: usage, Rule: "\x1b[31musage"}}
		}
		return nil
	}
	return render.Tree{Graph: g, Rows: g.Tree([]graph.ID{claim}, graph.TreeOptions{Depth: -1, Links: links}), Now: now}
}

// failing is a tree of objects of which a condition says what is wrong: one that is there, one that
// is being deleted and one whose STATUS says it too.
func failing(t testing.TB) render.Tree {
	t.Helper()
	g := snapshot(map[graph.Type][]graph.Object{knative: {
		object("shop", "platform-database-orders", time.Hour),
		deleting(object("shop", "deleted", time.Hour, ref(knative, "platform-database-orders")), 95*time.Second,
			"finalizer.managedresource.crossplane.io"),
		object("shop", "with-status", time.Hour, ref(knative, "platform-database-orders")),
		object("shop", "without-reason", time.Hour, ref(knative, "platform-database-orders")),
		object("shop", "well", time.Hour, ref(knative, "platform-database-orders")),
	}})
	all := ids(t, g, "platform-database-orders", "deleted", "with-status", "without-reason", "well")
	notSynced := &v1alpha1.Condition{Type: "Synced", Status: "False", Reason: "ReconcileError",
		Message: "connect failed: cannot get provider config"}
	return render.Tree{Graph: g, Rows: g.Tree(all[:1], graph.TreeOptions{Depth: -1}), Now: now,
		Readings: map[graph.ID]graph.PrinterColumns{
			all[0]: {Ready: "True", Failing: notSynced},
			all[1]: {Ready: "True", Failing: notSynced},
			all[2]: {Ready: "False", Status: "cannot get provider config", Failing: notSynced},
			all[3]: {Ready: "True", Failing: &v1alpha1.Condition{Type: "Synced", Status: "False"}},
			all[4]: {Ready: "True"},
		}}
}

// printedTree is what -o json prints of a tree.
func printedTree(t render.Tree, gaps ...v1alpha1.Gap) *v1alpha1.Tree {
	return (&tree.Snapshot{Snapshot: &selection.Snapshot{Graph: t.Graph, Gaps: gaps}, Rows: t.Rows,
		Readings: t.Readings}).Printed()
}

// hostileTexts are what an object, a reference to one or an odd server can call itself.
var hostileTexts = []string{
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "carriage\rreturn", "line\nbreak", "tab\tstop", "csi\u009b31m",
	"start\x01of heading", "\x7f", "back\bspace",
	"bidi\u202egpj.exe", "isolate\u2066x\u2069", "letter\u061cmark", "line\u2028separator", "invalid\xff\xfe",
	`"quoted"`, `back\slash`, `trailing\`, `\"`, `\n`, "<br/>", "<b>&lt;</b>", "#quot;", "#35;", "a]; n0 --> n1",
	`"];n9 [label="x"]`, "%%{init: {'theme':'dark'}}%%", "`code`", "--", "",
	" leading and trailing ", "e\u0301", "日本語", "👩‍👩‍👧",
}

// hostile is a tree in which every text that comes from outside is one of the hostile ones.
func hostile() render.Tree {
	b := graph.NewBuilder()
	readings := map[string]graph.PrinterColumns{}
	for i, text := range hostileTexts {
		other := hostileTexts[(i+7)%len(hostileTexts)]
		t := graph.Type{Group: other, Version: text, Resource: text, Kind: text, Namespaced: true}
		b.Serve(t)
		l := b.Listing(t, "")
		uid := "uid-" + text
		l.Add(graph.Object{
			Namespace: text, Name: other, UID: uid, ResourceVersion: text, CreationTimestamp: now.Unix(),
			Finalizers: []string{text, other},
			Owners:     []graph.OwnerReference{{APIVersion: text, Kind: text, Name: text, UID: "gone-" + text}},
		})
		l.Complete()
		readings[uid] = graph.PrinterColumns{Ready: text, Status: other}
	}
	g := b.Build()
	tree := render.Tree{Graph: g, Rows: g.Tree(g.Roots(), graph.TreeOptions{Depth: -1}), Now: now,
		Readings: map[graph.ID]graph.PrinterColumns{}}
	for uid, reading := range readings {
		if id, ok := g.Lookup(uid); ok {
			tree.Readings[id] = reading
		}
	}
	return tree
}
