package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Watching are the workloads beside an object that RBAC lets watch objects of its type, and nothing
// else, and that may not write it: the controller of such objects whose role has lost the right
// (https://github.com/SREGym/SREGym/pull/873). Who watches other types too may do it for their sake.
func (f *Finder) Watching(ctx context.Context, o *unstructured.Unstructured) (
	only []*unstructured.Unstructured, seen []v1alpha1.Observation) {
	t, ok := f.reader.Kind(o.GetAPIVersion(), o.GetKind())
	p := f.policyOf(ctx, o.GetNamespace())
	if !ok || !p.served || len(p.unread) > 0 || o.GetNamespace() == "" {
		return nil, nil
	}
	what := t.GroupResource()
	if !slices.ContainsFunc(p.grants, func(g grant) bool { return g.onlyWatches(what) }) {
		return nil, nil // so that no workloads need to be listed
	}
	workloads, _ := f.workloadsIn(ctx, []string{o.GetNamespace()})
	for _, w := range workloads {
		account := Account(w)
		binding := p.watchesOnly(account, what)
		if binding == "" || mayHaveOtherPermissions(w) || p.lets(account, targetOf(t, o)) {
			continue
		}
		only = append(only, w)
		seen = append(seen, v1alpha1.Observation{Says: fmt.Sprintf("ServiceAccount %s/%s may watch %s, and nothing else, and may not "+
			"update or patch them (%s); %s", account.Namespace, account.Name, what, binding, uses(w)), From: binding})
	}
	return only, seen
}

// watchesOnly is the binding that lets an account watch objects of a type, where none that names it,
// or all accounts of its namespace, is about anything else; empty otherwise.
func (p policy) watchesOnly(a cluster.ServiceAccount, what schema.GroupResource) (binding string) {
	for _, g := range p.grants {
		switch {
		case !g.names(a):
		case !g.onlyWatches(what):
			return ""
		case binding == "":
			binding = g.binding
		}
	}
	return binding
}

// onlyWatches reports whether a grant lets watch objects of a type, and is about nothing else but
// Events and Leases, which every controller writes.
func (g grant) onlyWatches(what schema.GroupResource) bool {
	watches := false
	for _, r := range g.rules {
		for _, resource := range r.resources {
			base, _, _ := strings.Cut(resource, "/")
			switch {
			case base == what.Resource && len(r.groups) == 1 && r.groups[0] == what.Group:
				watches = watches || has(r.verbs, "watch") && resource == base
			case resource == "events" || resource == "leases":
			default:
				return false
			}
		}
	}
	return watches
}
