package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// model is the graph worked out in the plainest way from what was listed, to hold the real one
// against.
type model struct {
	listings []listing
	seen     map[string]modelObject
}

type modelObject struct {
	graph.Object
	types []graph.Type // in which it was listed
}

func newModel(listings []listing) *model {
	m := &model{listings: listings, seen: map[string]modelObject{}}
	for _, l := range listings {
		if l.outcome == discarded {
			continue
		}
		for _, o := range l.objects {
			known := m.seen[o.UID]
			m.seen[o.UID] = modelObject{o, append(known.types, l.Type)}
		}
	}
	return m
}

// resolve returns the served types that a reference can mean.
func resolve(apiVersion, kind string) []graph.Type {
	var types []graph.Type
	for _, t := range served {
		versions := []graph.Type{t}
		if t == widgets {
			versions = append(versions, widgetsBeta)
		}
		for _, v := range versions {
			if v.APIVersion() == apiVersion && slices.Contains([]string{v.Kind, strings.ToLower(v.Kind)}, kind) {
				types = append(types, t)
			}
		}
	}
	return types
}

// provesAbsence reports whether a complete listing covers where the collector would look for the
// owner, for all types it could be of.
func (m *model) provesAbsence(r graph.OwnerReference, dependent modelObject) bool {
	types := resolve(r.APIVersion, r.Kind)
	for _, t := range types {
		covered := slices.ContainsFunc(m.listings, func(l listing) bool {
			here := l.scope == "" || t.Namespaced && l.scope == dependent.Namespace
			return l.outcome == complete && l.Group == t.Group && l.Resource == t.Resource && here
		})
		if !covered {
			return false
		}
	}
	return len(types) > 0
}

func (m *model) problem(r graph.OwnerReference, dependent modelObject) graph.Problem {
	var p graph.Problem
	types := resolve(r.APIVersion, r.Kind)
	owner, seen := m.seen[r.UID]
	clusterScoped := !dependent.types[0].Namespaced
	if len(types) == 0 {
		p |= graph.Unresolvable
	}
	if len(types) > 1 || len(types) == 1 && types[0].Kind != r.Kind {
		p |= graph.InexactKind
	}
	if len(types) > 0 && types[0].Namespaced && clusterScoped {
		p |= graph.WrongScope
	}
	if !seen {
		return p
	}
	if r.UID == dependent.UID {
		p |= graph.SelfReference
	}
	if owner.Name != r.Name {
		p |= graph.WrongName
	}
	isOne := slices.ContainsFunc(types, func(t graph.Type) bool {
		return slices.ContainsFunc(owner.types, func(o graph.Type) bool { return o.Group == t.Group && o.Kind == t.Kind })
	})
	if len(types) > 0 && !isOne {
		p |= graph.WrongKind
	}
	ownerNamespaced := owner.types[0].Namespaced
	if len(types) == 0 && ownerNamespaced && clusterScoped {
		p |= graph.WrongScope
	}
	if ownerNamespaced && !clusterScoped && owner.Namespace != dependent.Namespace {
		p |= graph.WrongNamespace
	}
	return p
}

// check holds the graph against the model: the same objects, the same references, the same
// judgement of each, and the same idea of which owners are absent and which unknown.
func (m *model) check(t *testing.T, g *graph.Graph) {
	t.Helper()
	unproven := map[string]bool{} // of the owners that were not seen: no proof by one of their references
	for uid, o := range m.seen {
		id, ok := g.Lookup(uid)
		if !ok || !g.Observed(id) {
			t.Errorf("%s was listed and is not in the graph", uid)
			continue
		}
		edges := slices.Collect(g.Owners(id))
		if len(edges) != len(o.Owners) {
			t.Errorf("%s has %d owners, want %d", uid, len(edges), len(o.Owners))
			continue
		}
		for i, r := range o.Owners {
			e := edges[i]
			got := graph.OwnerReference{APIVersion: e.APIVersion, Kind: e.Kind, Name: e.Name, UID: g.Ref(e.Owner).UID,
				Controller: e.Controller, Block: e.Block}
			if got != r {
				t.Errorf("owner %d of %s is %+v, want %+v", i, uid, got, r)
			}
			if want := m.problem(r, o); e.Problem != want {
				t.Errorf("owner %+v of %s has problems %v, want %v", r, uid, e.Problem.Names(), want.Names())
			}
			if _, seen := m.seen[r.UID]; !seen {
				unproven[r.UID] = unproven[r.UID] || !m.provesAbsence(r, o)
			}
		}
	}
	for uid, unknown := range unproven {
		want := graph.Absent
		if unknown {
			want = graph.Unknown
		}
		if id, ok := g.Lookup(uid); !ok || g.State(id) != want {
			t.Errorf("owner %s, which was not seen, has state %d, %v; want %d", uid, g.State(id), ok, want)
		}
	}
	if want := len(m.seen) + len(unproven); g.Len() != want {
		t.Errorf("%d nodes, want %d", g.Len(), want)
	}
}
