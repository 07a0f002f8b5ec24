package actor

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// WorksOn are those of some types of custom resources whose objects a workload works on: by what a
// pack knows of a component that it looks like, and by rules of RBAC that name the group and let it
// update or patch them. Types of Kubernetes itself, whose groups have no dot, are left out.
func (f *Finder) WorksOn(ctx context.Context, w *unstructured.Unstructured,
	types []cluster.Resource) []cluster.Resource {
	known := f.known.Of(w.GetKind(), w.GetNamespace(), w.GetName(), labelsOf(w)...)
	rules := f.rulesFor(ctx, w)
	var all []cluster.Resource
	for _, t := range types {
		is := slices.ContainsFunc(known, func(k finalizer.Known) bool { return k.IsAbout(t.Group, t.Kind) }) ||
			slices.ContainsFunc(rules, func(r rule) bool { return r.writes(t) })
		if strings.Contains(t.Group, ".") && is {
			all = append(all, t)
		}
	}
	return all
}

// rulesFor are the rules of RBAC for a workload; none if it may have other permissions than those
// of its ServiceAccount.
func (f *Finder) rulesFor(ctx context.Context, w *unstructured.Unstructured) []rule {
	if mayHaveOtherPermissions(w) {
		return nil
	}
	account := Account(w)
	var rules []rule
	for _, g := range f.policyOf(ctx, account.Namespace).grants {
		if slices.Contains(g.accounts, account) {
			rules = append(rules, g.rules...)
		}
	}
	return rules
}

// writes says whether a rule that names the group of a type allows to update or patch its objects.
func (r rule) writes(t cluster.Resource) bool {
	if !slices.Contains(r.groups, t.Group) {
		return false
	}
	object, _ := r.verbsFor(target{group: t.Group, resource: t.Resource})
	return len(object) > 0
}
