package actor

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Outgrown is a resource that the rules of RBAC for a workload name in a group that is not served,
// as ingresses of extensions, and its type in the group of Kubernetes that serves it now, of which
// they say nothing.
type Outgrown struct {
	Was schema.GroupResource
	Now cluster.Resource
}

// Outgrown finds them. Hidden reports whether a group may be served though discovery does not show
// it.
func (f *Finder) Outgrown(ctx context.Context, w *unstructured.Unstructured,
	hidden func(group string) bool) []Outgrown {
	return outgrown(f.rulesFor(ctx, w), f.reader.Catalog().Resources, hidden)
}

func outgrown(rules []rule, types []cluster.Resource, hidden func(group string) bool) (all []Outgrown) {
	for _, r := range rules {
		for _, group := range r.groups {
			if group == "" || group == "*" || !cluster.BuiltIn(group) || hidden(group) ||
				slices.ContainsFunc(types, func(t cluster.Resource) bool { return t.Group == group }) {
				continue
			}
			for _, resource := range r.resources {
				i := slices.IndexFunc(types, func(t cluster.Resource) bool {
					return t.Resource == resource && cluster.BuiltIn(t.Group)
				})
				if i < 0 || slices.ContainsFunc(rules, func(r rule) bool {
					return has(r.groups, types[i].Group) && has(r.resources, resource)
				}) {
					continue
				}
				all = append(all, Outgrown{Was: schema.GroupResource{Group: group, Resource: resource}, Now: types[i]})
			}
		}
	}
	return all
}
