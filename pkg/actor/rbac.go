package actor

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// rule is one of a Role or a ClusterRole.
type rule struct {
	groups, resources, names, verbs []string
}

// target is what is to be written, with the verbs that do it.
type target struct {
	group, resource, name string
}

// rulesOf reads the rules of a Role or a ClusterRole. Those of an aggregated ClusterRole are in it
// as they were put together.
func rulesOf(role *unstructured.Unstructured) []rule {
	var all []rule
	for _, item := range listOf(role.Object, "rules") {
		m, _ := item.(map[string]any)
		all = append(all, rule{groups: texts(m, "apiGroups"), resources: texts(m, "resources"),
			names: texts(m, "resourceNames"), verbs: texts(m, "verbs")})
	}
	return all
}

// everything says whether a rule is about all resources of all groups, as those of administrators
// are: it says nothing of whose work the object is.
func (r rule) everything() bool {
	return slices.Contains(r.groups, "*") && slices.Contains(r.resources, "*")
}

// verbsFor returns which of update and patch the rule allows on the target itself, and which on its
// subresource finalizers.
func (r rule) verbsFor(t target) (object, finalizers []string) {
	if !has(r.groups, t.group) || len(r.names) > 0 && !slices.Contains(r.names, t.name) {
		return nil, nil
	}
	for _, verb := range []string{"update", "patch"} {
		if !has(r.verbs, verb) {
			continue
		}
		if has(r.resources, t.resource) {
			object = append(object, verb)
		}
		if has(r.resources, t.resource+"/finalizers") || slices.Contains(r.resources, "*/finalizers") {
			finalizers = append(finalizers, verb)
		}
	}
	return object, finalizers
}

// has says whether a list of a rule names something.
func has(list []string, name string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, name)
}

// listOf reads a list that is not to be changed.
func listOf(m map[string]any, path ...string) []any {
	value, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	list, _ := value.([]any)
	return list
}

// texts reads the texts of a list.
func texts(m map[string]any, path ...string) []string {
	var all []string
	for _, item := range listOf(m, path...) {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

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
