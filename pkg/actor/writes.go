package actor

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Writes are those of some types whose objects RBAC lets a workload update or patch by a rule that names their group: what it works on. Types of Kubernetes itself, whose groups
// have no dot, are left out. It is nil for a workload that may have other permissions than those of its ServiceAccount.
func (f *Finder) Writes(ctx context.Context, w *unstructured.Unstructured, types []cluster.Resource) []cluster.Resource {
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
	var all []cluster.Resource
	for _, t := range types {
		if strings.Contains(t.Group, ".") && slices.ContainsFunc(rules, func(r rule) bool { return r.writes(t) }) {
			all = append(all, t)
		}
	}
	return all
}

// writes says whether a rule that names the group of a type allows to update or patch its objects.
func (r rule) writes(t cluster.Resource) bool {
	if !slices.Contains(r.groups, t.Group) {
		return false
	}
	object, _ := r.verbsFor(target{group: t.Group, resource: t.Resource})
	return len(object) > 0
}
