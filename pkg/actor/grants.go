package actor

import (
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// grant is what a binding gives to ServiceAccounts.
type grant struct {
	// binding names it for use in a sentence.
	binding string
	// accounts are those that it names; one without a name is every one of its namespace.
	accounts []cluster.ServiceAccount
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

// policy is what RBAC says of the objects of a namespace, or of those that are in none.
type policy struct {
	grants []grant
	// roles are the ClusterRoles that no controller of Kubernetes has of its own, by name.
	roles map[string][]rule
	// served says that the server has RBAC; unread names what of it could not be listed.
	served bool
	unread []string
}

// policies remembers them by namespace. The zero value has none yet.
type policies struct {
	mu   sync.Mutex
	byNS map[string]func() policy
}

// policyOf reads RBAC, as far as it counts in a namespace; the empty one is for cluster-scoped
// objects.
func (f *Finder) policyOf(ctx context.Context, namespace string) policy {
	f.rbac.mu.Lock()
	if f.rbac.byNS == nil {
		f.rbac.byNS = map[string]func() policy{}
	}
	read, asked := f.rbac.byNS[namespace]
	if !asked {
		read = sync.OnceValue(func() policy { return f.readPolicy(ctx, namespace) })
		f.rbac.byNS[namespace] = read
	}
	f.rbac.mu.Unlock()
	return read()
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
		g := grantOf(b)
		g.role = status.Nested(b, "roleRef", "kind") + " " + status.Nested(b, "roleRef", "name")
		if status.Nested(b, "roleRef", "kind") == "Role" {
			g.rules = roles[status.Nested(b, "roleRef", "name")]
		} else {
			g.rules = p.roles[status.Nested(b, "roleRef", "name")]
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
