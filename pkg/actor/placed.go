package actor

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Placed is a ServiceAccount that RBAC lets write objects of a type in another namespace.
type Placed struct {
	Permitted
	Namespace string
}

// addPlaced finds who may write objects of the type in other namespaces, and who runs as them.
func (f *Finder) addPlaced(ctx context.Context, p *Permissions, o *unstructured.Unstructured, t target) {
	p.Placed = f.placed(ctx, o, t)
	var they Permissions
	for _, at := range p.Placed {
		they.Accounts = append(they.Accounts, at.Permitted)
	}
	f.addWorkloads(ctx, &they)
	p.Unread = append(p.Unread, they.Unread...)
	for i, a := range they.Accounts {
		p.Placed[i].Permitted = a
	}
}

// placed finds who may update or patch objects of the type of one in other namespaces than its own,
// by a RoleBinding there. It finds nobody if not all of RBAC can be read.
func (f *Finder) placed(ctx context.Context, o *unstructured.Unstructured, t target) []Placed {
	p := f.policyOf(ctx, o.GetNamespace())
	if o.GetNamespace() == "" || !p.served || len(p.unread) > 0 {
		return nil
	}
	bindings, err := f.reader.ListObjects(ctx, cluster.RoleBindings, "", cluster.Selection{})
	if err != nil {
		return nil
	}
	roles, err := f.reader.ListObjects(ctx, cluster.Roles, "", cluster.Selection{})
	if err != nil {
		return nil
	}
	rules := map[string][]rule{}
	for _, role := range roles {
		rules[role.GetNamespace()+"/"+role.GetName()] = rulesOf(role)
	}
	var all []Placed
	for _, b := range bindings {
		if b.GetNamespace() == o.GetNamespace() {
			continue
		}
		g, name := grantOf(b), status.Nested(b, "roleRef", "name")
		if g.rules = p.roles[name]; status.Nested(b, "roleRef", "kind") == "Role" {
			g.rules = rules[b.GetNamespace()+"/"+name]
		}
		object, _, every := g.allows(t)
		if len(object) == 0 || every {
			continue
		}
		for _, a := range g.accounts {
			all = append(all, Placed{permittedBy(g, a, object, nil), b.GetNamespace()})
		}
	}
	return all
}

// placedAs are those of an account.
func placedAs(all []Placed, a cluster.ServiceAccount) []Placed {
	return slices.DeleteFunc(slices.Clone(all), func(p Placed) bool {
		return p.Account != a && p.Account != (cluster.ServiceAccount{Namespace: a.Namespace})
	})
}

// OnlyPlaced returns the one workload that may in another namespace, and which that is, where nobody
// may in that of the object, but for administrators; nil if there are several, none, or if not
// everything could be listed.
func (p Permissions) OnlyPlaced() (only *unstructured.Unstructured, namespace string) {
	for _, at := range p.Placed {
		for _, w := range at.Workloads {
			if only != nil && only.GetUID() != w.GetUID() {
				return nil, ""
			}
			only, namespace = w, at.Namespace
		}
	}
	if len(p.Accounts)+len(p.Unread) > 0 || p.Anybody != "" {
		return nil, ""
	}
	return only, namespace
}
