package actor

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Agent is a user who is no ServiceAccount and whom a RoleBinding lets write objects of a custom
// resource in one namespace, and their status, by a role that is about nothing but what is of the
// same domain: as a rule a program in another cluster that works on what is in the namespace for
// it, as the member agent of KubeFleet is (https://github.com/Azure/fleet/issues/881). People have
// other rights as well, need not write a status, and are called by names of letters, or by
// addresses.
type Agent struct{ User, Binding string }

// Agents are those of the type and the namespace of an object, where all of RBAC there can be read.
func (f *Finder) Agents(ctx context.Context, o *unstructured.Unstructured) []Agent {
	t, ok := f.reader.Kind(o.GetAPIVersion(), o.GetKind())
	if !ok || cluster.BuiltIn(t.Group) || o.GetNamespace() == "" {
		return nil
	}
	return f.policyOf(ctx, o.GetNamespace()).agents(targetOf(t, o))
}

// agents are those whom a RoleBinding lets write a target, each once, and whom no binding gives a
// right that is about something else.
func (p policy) agents(t target) (all []Agent) {
	if len(p.unread) > 0 {
		return nil // who has other rights is not known
	}
	for _, g := range p.grants {
		object, _, every := g.allows(t)
		status, _, _ := g.allows(target{t.group, t.resource + "/status", t.name})
		if len(object) == 0 || len(status) == 0 || every || !strings.HasPrefix(g.binding, "RoleBinding ") {
			continue
		}
		for _, user := range g.users {
			known := slices.ContainsFunc(all, func(a Agent) bool { return a.User == user })
			other := slices.ContainsFunc(p.grants,
				func(g grant) bool { return slices.Contains(g.users, user) && !g.onlyAbout(t.group) })
			if !known && !other && !person.MatchString(user) {
				all = append(all, Agent{user, g.binding})
			}
		}
	}
	return all
}

// person is how people are called, perhaps behind what tells who has authenticated them: ann, oidc:ann.lee,
// ann@example.com.
var person = regexp.MustCompile(`(?:^|[:/#])[A-Za-z]+(?:[._][A-Za-z]+)*$|@(?:[^.]+\.)*[^.]+\.[^.]+$`)

// onlyAbout reports whether a grant is about types of the domain of an API group alone, but for
// what every controller writes: Events and Leases.
func (g grant) onlyAbout(group string) bool {
	return !slices.ContainsFunc(g.rules, func(r rule) bool {
		other := slices.ContainsFunc(r.resources, func(of string) bool { return of != "events" && of != "leases" })
		return other && slices.ContainsFunc(r.groups,
			func(of string) bool { return of != group && !cluster.OfOneDomain(of, group) })
	})
}
