package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

var (
	configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	secrets    = graph.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	pods       = graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	claims     = graph.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim",
		Namespaced: true}
	services     = graph.Type{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true}
	certificates = graph.Type{Group: certManager, Version: "v1", Resource: "certificates", Kind: "Certificate",
		Namespaced: true}
	sets  = graph.Type{Group: "apps", Version: "v1", Resource: "statefulsets", Kind: "StatefulSet", Namespaced: true}
	roles = graph.Type{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Kind: "ClusterRole"}
)

// small is a cluster made by hand. The uid of an object is its name.
type small struct {
	t       *testing.T
	objects map[graph.Type][]graph.Object
}

func newSmall(t *testing.T) *small { return &small{t, map[graph.Type][]graph.Object{}} }

// add adds an object to namespace ns, or to none for a cluster-scoped type.
func (s *small) add(t graph.Type, name string, owners ...graph.OwnerReference) *graph.Object {
	o := graph.Object{Name: name, UID: name, ResourceVersion: "1", Owners: owners}
	if t.Namespaced {
		o.Namespace = "ns"
	}
	s.objects[t] = append(s.objects[t], o)
	return &s.objects[t][len(s.objects[t])-1]
}

// to is a reference to an object; block is a blocking one.
func to(t graph.Type, name string) graph.OwnerReference {
	return graph.OwnerReference{APIVersion: t.APIVersion(), Kind: t.Kind, Name: name, UID: name}
}

func block(t graph.Type, name string) graph.OwnerReference {
	r := to(t, name)
	r.Block = true
	return r
}

// as is a reference that names something else than what has its uid.
func as(r graph.OwnerReference, t graph.Type, name string) graph.OwnerReference {
	r.APIVersion, r.Kind, r.Name = t.APIVersion(), t.Kind, name
	return r
}

func (s *small) plan(policy Policy, roots ...string) *Plan {
	s.t.Helper()
	b := graph.NewBuilder()
	for _, typ := range []graph.Type{configMaps, secrets, pods, claims, sets, roles} {
		b.Serve(typ)
		l := b.Listing(typ, "")
		l.Add(s.objects[typ]...)
		l.Complete()
	}
	g := b.Build()
	return New(g, lookup(s.t, g, roots...), policy, Options{})
}

func lookup(t *testing.T, g *graph.Graph, uids ...string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for _, uid := range uids {
		id, ok := g.Lookup(uid)
		if !ok {
			t.Fatalf("no object %s", uid)
		}
		ids = append(ids, id)
	}
	return ids
}

// names are those of objects, sorted.
func names(g *graph.Graph, ids []graph.ID) string {
	var all []string
	for _, id := range ids {
		all = append(all, g.Ref(id).Name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// reasonOf returns why an object is deleted, or why it is left.
func reasonOf(p *Plan, uid string) (ReasonCode, string) {
	id, _ := p.Graph.Lookup(uid)
	cause := func(r Reason) (ReasonCode, string) {
		if !r.HasCause {
			return r.Code, ""
		}
		return r.Code, p.Graph.Ref(r.Cause).UID
	}
	for _, s := range slices.Concat(p.Kept, p.Deadlocked) {
		if s.Object == id {
			return cause(s.Because)
		}
	}
	for _, a := range p.Actions {
		if a.Object == id && a.Verb == VerbDelete {
			return cause(a.Because)
		}
	}
	return "", ""
}

func wantReason(t *testing.T, p *Plan, uid string, code ReasonCode, cause string) {
	t.Helper()
	if gotCode, gotCause := reasonOf(p, uid); gotCode != code || gotCause != cause {
		t.Errorf("%s: %s because of %q, want %s because of %q", uid, gotCode, gotCause, code, cause)
	}
}
