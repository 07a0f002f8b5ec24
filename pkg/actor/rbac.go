package actor

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// rule is one of a Role or a ClusterRole.
type rule struct {
	groups, resources, names, verbs []string
}

// target is what is to be written, with the verbs that do it.
type target struct {
	group, resource, name string
}

// targetOf is an object of a type.
func targetOf(t graph.Type, o *unstructured.Unstructured) target {
	return target{t.Group, t.Resource, o.GetName()}
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

// everything reports whether a rule is about all resources of all groups, as those of
// administrators are: it says nothing of whose work the object is.
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

// has reports whether a list of a rule names something.
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

// writes reports whether a rule that names the group of a type allows to update or patch its
// objects.
func (r rule) writes(t cluster.Resource) bool {
	if !slices.Contains(r.groups, t.Group) {
		return false
	}
	object, _ := r.verbsFor(target{group: t.Group, resource: t.Resource})
	return len(object) > 0
}

// grant is what a binding gives to ServiceAccounts.
type grant struct {
	// binding names it for use in a sentence.
	binding string
	// accounts are those that it names; one without a name is every one of its namespace.
	accounts []cluster.ServiceAccount
	// users are those who are neither ServiceAccounts nor parts of Kubernetes.
	users []string
	// anybody says that a group that everybody is in, or every ServiceAccount, is among its
	// subjects.
	anybody bool
	// kubernetes says that it is one of the controllers of kube-controller-manager, of which
	// Kubernetes makes the bindings itself.
	kubernetes bool
	// role names what it binds to.
	role  string
	rules []rule
}

// names reports whether an account is among the subjects, by itself or with all of its namespace.
func (g grant) names(a cluster.ServiceAccount) bool {
	return slices.Contains(g.accounts, a) || slices.Contains(g.accounts, cluster.ServiceAccount{Namespace: a.Namespace})
}

// policy is what RBAC says of the objects of a namespace, or of those that are in none.
type policy struct {
	grants []grant
	// roles are the ClusterRoles that no controller of Kubernetes has of its own, by name.
	roles map[string][]rule
	// served says that the server has RBAC; unread names what of it could not be listed.
	served bool
	unread []string
}

// policyOf reads RBAC, as far as it counts in a namespace; the empty one is for cluster-scoped
// objects.
func (f *Finder) policyOf(ctx context.Context, namespace string) policy {
	p, _ := f.rbac.Once(ctx, namespace, func() (policy, error) { return f.readPolicy(ctx, namespace), nil })
	return p
}

func (f *Finder) readPolicy(ctx context.Context, namespace string) policy {
	p := policy{roles: map[string][]rule{}}
	if _, p.served = f.reader.Lookup(cluster.ClusterRoles); !p.served {
		return p
	}
	var unread []v1alpha1.Gap
	list := func(resource schema.GroupResource, namespace string) []*unstructured.Unstructured {
		all, err := f.reader.ListObjects(ctx, resource, namespace, cluster.Selection{})
		if err != nil {
			unread = append(unread, unlisted(resource, namespace, err))
		}
		return all
	}
	for _, role := range list(cluster.ClusterRoles, "") {
		p.roles[role.GetName()] = rulesOf(role)
	}
	bindings := list(cluster.ClusterRoleBindings, "")
	roles := map[string][]rule{}
	if namespace != "" {
		for _, role := range list(cluster.Roles, namespace) {
			roles[role.GetName()] = rulesOf(role)
		}
		bindings = append(slices.Clip(bindings), list(cluster.RoleBindings, namespace)...)
	}
	for _, b := range bindings {
		g, kind, name := grantOf(b), status.Nested(b, "roleRef", "kind"), status.Nested(b, "roleRef", "name")
		g.role = kind + " " + name
		if g.rules = p.roles[name]; kind == "Role" {
			g.rules = roles[name]
		}
		p.grants = append(p.grants, g)
	}
	p.unread = GapClauses(unread...)
	return p
}

// grantOf reads a binding, but for what it binds to.
func grantOf(b *unstructured.Unstructured) grant {
	g := grant{binding: b.GetKind() + " " + b.GetName(), kubernetes: strings.HasPrefix(b.GetName(), "system:controller:")}
	for _, item := range listOf(b.Object, "subjects") {
		m, _ := item.(map[string]any)
		name := status.Text(m, "name")
		switch status.Text(m, "kind") {
		case "ServiceAccount":
			g.accounts = append(g.accounts, cluster.ServiceAccount{Namespace: status.Text(m, "namespace"), Name: name})
		case "User":
			if parts := strings.Split(name, ":"); len(parts) == 4 && strings.HasPrefix(name, "system:serviceaccount:") {
				g.accounts = append(g.accounts, cluster.ServiceAccount{Namespace: parts[2], Name: parts[3]})
			} else if !strings.HasPrefix(name, "system:") {
				g.users = append(g.users, name)
			}
		case "Group":
			namespace, of := strings.CutPrefix(name, "system:serviceaccounts:")
			switch {
			case of:
				g.accounts = append(g.accounts, cluster.ServiceAccount{Namespace: namespace})
			case name == "system:serviceaccounts" || name == "system:authenticated" || name == "system:unauthenticated":
				g.anybody = true
			}
		}
	}
	return g
}
