package plugins_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestNoLinkOfAPackLeadsATenantToWhatOthersOwn: whoever may write one namespace copies an object
// that has links, with its name, its labels and its finalizers, and names in it every object of
// testdata/links. Whatever link that is, and however the copy is deleted, kubectl gc writes to
// nothing but the copy, and saves nothing else.
func TestNoLinkOfAPackLeadsATenantToWhatOthersOwn(t *testing.T) {
	t.Parallel()
	tried, deleted := map[string]bool{}, 0
	for _, pack := range fixture.Packs(t).Packs() {
		dir := filepath.Join("testdata", "links", strings.TrimSuffix(pack.File, ".yaml"))
		links := naming(pack)
		if len(links) == 0 {
			continue
		}
		objects, err := explain.ReadObjects(os.DirFS(dir), explain.ObjectsDir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range links {
			d := &links[i]
			if d.OwnerSide() != link.Source || d.Deletion.Of == link.Lead || clusterScopedSources[d.ID] {
				continue // what has the link is the dependent, or manages nothing by it, or takes the right to write everywhere
			}
			for _, o := range objects {
				if o.GetNamespace() != "" && couldBeSource(d, o) {
					tried[d.ID] = true
					deleted += deleteCopy(t, d, o, objects)
				}
			}
			if !tried[d.ID] {
				t.Errorf("the link %s was not tried: no object in a namespace has it", d.ID)
			}
		}
	}
	if deleted == 0 {
		t.Error("no program deletes anything because of a copy")
	}
}

// clusterScopedSources are the links whose sources have no namespace.
var clusterScopedSources = map[string]bool{
	"kubevela-resources": true, "crossplane-xrd-claims": true, "crossplane-xrd-composites": true,
	"apiservice-objects": true, "apiservice-automanaged": true, "node-pods": true,
	"gatekeeper-template-reports": true, "gatekeeper-constraint-reports": true,
	"gatekeeper-template-policy": true, "gatekeeper-mutator-reports": true,
	"gatekeeper-expansion-reports": true, "gatekeeper-provider-reports": true,
	"crossplane-usage-replay": true, "karpenter-nodeclaim-node": true, "karpenter-node-nodeclaim": true,
}

// couldBeSource reports whether an object has a link; a category is that of whatever has the
// finalizer of the link, or the field.
func couldBeSource(d *link.Definition, o *unstructured.Unstructured) bool {
	if d.From.Category != "" {
		named, _, _ := d.References(o.Object)
		return len(named) > 0
	}
	return d.From.Matches(o.GroupVersionKind().Group, o.GetKind(), nil) && d.IsSource(o.Object)
}

// deleteCopy plans the deletions of a copy, and returns how many objects of others its program
// deletes.
func deleteCopy(t *testing.T, d *link.Definition, of *unstructured.Unstructured,
	others []*unstructured.Unstructured) int {
	t.Helper()
	evil := of.DeepCopy()
	evil.SetNamespace("tenant")
	evil.SetUID("evil")
	evil.SetDeletionTimestamp(nil)
	if f := d.Deletion.Finalizer; f != "" {
		evil.SetFinalizers([]string{strings.TrimSuffix(f, "*")})
	}
	b := graph.NewBuilder()
	byType := map[graph.Type][]graph.Object{}
	uids := map[string]*unstructured.Unstructured{"evil": evil}
	add := func(o *unstructured.Unstructured, uid string) {
		gvk := o.GroupVersionKind()
		typ := graph.Type{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: strings.ToLower(gvk.Kind) + "s",
			Namespaced: o.GetNamespace() != ""}
		object := graph.Object{Namespace: o.GetNamespace(), Name: o.GetName(), UID: uid, ResourceVersion: "1",
			Finalizers: o.GetFinalizers()}
		for _, r := range o.GetOwnerReferences() {
			object.Owners = append(object.Owners,
				graph.OwnerReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID)})
		}
		byType[typ] = append(byType[typ], object)
		uids[uid] = o
	}
	add(evil, "evil")
	for i, o := range others {
		uid := string(o.GetUID())
		if uid == "" || uids[uid] != nil {
			uid = "other-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		}
		add(o, uid)
	}
	for typ, all := range byType {
		b.Serve(typ)
		listing := b.Listing(typ, "")
		listing.Add(all...)
		listing.Complete()
	}
	g := b.Build()
	root, _ := g.Lookup("evil")
	source := link.IdentityOf(evil.GroupVersionKind().Group, evil.GetKind(), evil)
	var found []link.Found
	for uid, o := range uids {
		if end, ok := g.Lookup(uid); ok && end != root {
			effect := d.EffectOf(evil.Object, evil.GetFinalizers())
			found = append(found, link.Found{Definition: d, Source: root, End: end, Effect: effect,
				Confirmed: d.ConfirmedBy(o.Object, source)})
		}
	}
	links := link.New(g, found...)
	deleted := 0
	for _, policy := range []plan.Policy{plan.Background, plan.Foreground} {
		strict := plan.New(g, []graph.ID{root}, policy, plan.Options{Links: links, Strict: true})
		anything := func(graph.ID) bool { return true }
		for _, p := range []*plan.Plan{strict, strict.Ordered(plan.Ordering{First: anything, Workload: anything})} {
			var written []graph.ID
			for _, a := range p.Actions {
				if a.By == plan.ByClient {
					written = append(written, a.Object)
				}
			}
			for _, id := range slices.Concat(written, archive.OfPlan(p).Objects) {
				if id != root {
					t.Errorf("%s, %s: a copy of %s writes to %s, or saves it", d.ID, policy, of.GetName(), g.Ref(id).Located())
				}
			}
			deleted += len(p.Deleted) - 1
		}
	}
	return deleted
}
