package actor

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Part is an object that an actor needs to remove a finalizer.
type Part struct {
	Resource        schema.GroupResource
	Namespace, Name string
}

// Parts are, for each workload that removes a finalizer of an object, the objects that it needs to
// do so: itself, its ServiceAccount, and the binding and the role that permit it, where only one
// binding does. If each lacks one of them, nobody removes the finalizer. It is nil where nothing
// can be concluded: no workload was found, not all could be looked at, or the actor normally runs
// outside the cluster.
func (f *Finder) Parts(ctx context.Context, o *unstructured.Unstructured, a Actor) [][]Part {
	if a.Outside || len(a.Unread) > 0 {
		return nil
	}
	workloads := a.Workloads
	switch {
	case !a.IsKnown && len(workloads) == 0:
		workloads = f.permittedWorkloads(ctx, o)
	case a.IsKnown && len(workloads) > 0:
		// The search for signs of life ends with the first that lives, and there may be another
		// installation.
		s := f.searchFor(o, a.Known, a.Finalizer)
		s.usual(ctx)
		s.elsewhere(ctx)
		if len(s.unread) > 0 {
			return nil
		}
		workloads = append(slices.Clone(workloads), s.workloads...)
	}
	var all [][]Part
	for _, w := range workloads {
		if !among(a.Scaled, w) {
			all = append(all, f.partsOf(ctx, o, w))
		}
	}
	return all
}

// permittedWorkloads are the workloads that RBAC lets remove the finalizers of an object, where it
// is known that nobody else may but those who may write everything: none of these may be a
// ServiceAccount.
func (f *Finder) permittedWorkloads(ctx context.Context, o *unstructured.Unstructured) []*unstructured.Unstructured {
	found, ok := f.Permitted(ctx, o)
	if !ok || len(found.Unread) > 0 || found.Anybody != "" || found.Everything > 0 {
		return nil
	}
	var all []*unstructured.Unstructured
	for _, account := range found.Accounts {
		if !account.Finalizers {
			all = append(all, account.Workloads...)
		}
	}
	return all
}

// partsOf are what a workload needs to remove a finalizer of an object.
func (f *Finder) partsOf(ctx context.Context, o, w *unstructured.Unstructured) []Part {
	parts := []Part{{f.resourceOf(w), w.GetNamespace(), w.GetName()}}
	t, ok := f.reader.Kind(o.GetAPIVersion(), o.GetKind())
	if !ok || mayHaveOtherPermissions(w) {
		return parts
	}
	account := Account(w)
	parts = append(parts, Part{cluster.ServiceAccounts, account.Namespace, account.Name})
	return append(parts, f.policyOf(ctx, o.GetNamespace()).permission(account, targetOf(t, o), o.GetNamespace())...)
}

// resourceOf is the type of a workload.
func (f *Finder) resourceOf(w *unstructured.Unstructured) schema.GroupResource {
	t, _ := f.reader.Kind(w.GetAPIVersion(), w.GetKind())
	return t.GroupResource()
}

// permission is the one binding, with its role, that lets an account update or patch the target;
// nothing if there is none, or more than one.
func (p policy) permission(a cluster.ServiceAccount, t target, namespace string) []Part {
	if len(p.unread) > 0 {
		return nil
	}
	var only []Part
	for _, g := range p.grants {
		if object, _, _ := g.allows(t); len(object) == 0 {
			continue
		}
		named := g.names(a)
		switch {
		case g.anybody || named && only != nil:
			return nil
		case named:
			only = []Part{partNamed(g.binding, namespace), partNamed(g.role, namespace)}
		}
	}
	return only
}

// partNamed is a binding or a role, as grants name it: "RoleBinding op".
func partNamed(title, namespace string) Part {
	kind, name, _ := strings.Cut(title, " ")
	resource := map[string]schema.GroupResource{
		"RoleBinding": cluster.RoleBindings, "ClusterRoleBinding": cluster.ClusterRoleBindings, "Role": cluster.Roles,
		"ClusterRole": cluster.ClusterRoles,
	}[kind]
	if strings.HasPrefix(kind, "Cluster") {
		namespace = ""
	}
	return Part{resource, namespace, name}
}
