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
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Forbidden is what an actor may not do, so that it cannot remove the finalizer.
type Forbidden struct {
	// Concluded says that no part of the actor that runs, or could be started, may update or patch the
	// object.
	// Without it, Evidence says what is not known, if anything is.
	Concluded bool
	Workload  *unstructured.Unstructured
	Account   cluster.ServiceAccount
	// Resource is the type as kubectl auth can-i takes it.
	Resource string
	Evidence []v1alpha1.Observation
	// Role is a ClusterRole that would allow it, empty if there is none or more than one.
	Role string
	// Lacking is a Role or ClusterRole of the account that is about the type and lacks the verbs:
	// "ClusterRole op"; empty if there is none.
	Lacking string
	// Placed is where the account may write objects of the type, if that is in other namespaces.
	Placed []Placed
}

// Forbidden finds out whether the workloads of an actor may remove a finalizer of an object: those
// that run, or if none does, those that could be started. The server is asked, which asks all its
// authorizers; where the user may not ask that, RBAC is evaluated, and what it does not allow another
// authorizer may: nothing is concluded then.
func (f *Finder) Forbidden(ctx context.Context, o *unstructured.Unstructured, a Actor) Forbidden {
	t, ok := f.reader.Kind(o.GetAPIVersion(), o.GetKind())
	workloads := slices.DeleteFunc(slices.Clone(a.Workloads), func(w *unstructured.Unstructured) bool {
		return a.Life == Alive && !running(w) || a.Life == Dead && w.GetDeletionTimestamp() != nil
	})
	if a.Life == Unknown || !ok || len(workloads) == 0 || slices.ContainsFunc(workloads, mayHaveOtherPermissions) {
		return Forbidden{}
	}
	for _, w := range workloads {
		for _, verb := range []string{"patch", "update"} {
			review, err := f.reader.ReviewOf(ctx, Account(w),
				cluster.Access{Verb: verb, Type: t, Namespace: o.GetNamespace(), Name: o.GetName()})
			if err != nil {
				return f.byPolicy(ctx, o, targetOf(t, o), workloads)
			}
			if review.Permission != cluster.Denied {
				return Forbidden{}
			}
		}
	}
	found := Forbidden{Concluded: true, Workload: workloads[0], Account: Account(workloads[0]),
		Resource: t.GroupResource().String()}
	in := ""
	if ns := o.GetNamespace(); ns != "" {
		in = " in namespace " + ns
	}
	seen := map[cluster.ServiceAccount]bool{}
	for _, w := range workloads {
		if account := Account(w); !seen[account] {
			seen[account] = true
			found.note(fmt.Sprintf("ServiceAccount %s/%s, which %s %s/%s uses, may neither patch nor update %s%s",
				account.Namespace, account.Name, w.GetKind(), w.GetNamespace(), w.GetName(), found.Resource, in),
				"SubjectAccessReview")
		}
	}
	p := f.policyOf(ctx, o.GetNamespace())
	found.Placed = placedAs(f.placed(ctx, o, targetOf(t, o)), found.Account)
	for _, at := range found.Placed[:min(len(found.Placed), phrase.MaxNamed)] {
		found.note(fmt.Sprintf("it may %s them in namespace %s", phrase.And(at.Verbs), at.Namespace),
			"RoleBinding "+at.Namespace+"/"+strings.TrimPrefix(at.Binding, "RoleBinding "))
	}
	if lacking, says := p.lacking(found.Account, targetOf(t, o)); lacking != "" {
		found.Lacking = lacking
		found.note(says, lacking)
		return found
	}
	found.Role = p.roleFor(targetOf(t, o))
	if found.Role != "" {
		found.note(fmt.Sprintf("ClusterRole %s allows it, and no binding gives it to %s", found.Role, found.Account.User()),
			"ClusterRole "+found.Role)
	}
	return found
}

func (f *Forbidden) note(says, from string) {
	f.Evidence = append(f.Evidence, v1alpha1.Observation{Says: says, From: from})
}

// byPolicy says what RBAC does not allow, if all of it could be read.
func (f *Finder) byPolicy(ctx context.Context, o *unstructured.Unstructured, t target,
	alive []*unstructured.Unstructured) Forbidden {
	p := f.policyOf(ctx, o.GetNamespace())
	account := Account(alive[0])
	var found Forbidden
	if len(p.unread) > 0 {
		found.note(fmt.Sprintf("whether ServiceAccount %s/%s may update or patch it is not known: %s", account.Namespace,
			account.Name, strings.Join(p.unread, "; ")), "")
		return found
	}
	if !p.served || slices.ContainsFunc(alive, func(w *unstructured.Unstructured) bool { return p.lets(Account(w), t) }) {
		return Forbidden{}
	}
	found.note(fmt.Sprintf(
		"RBAC does not let ServiceAccount %s/%s, which %s uses, update or patch %s; whether another authorizer does is not known",
		account.Namespace, account.Name, alive[0].GetKind()+" "+alive[0].GetNamespace()+"/"+alive[0].GetName(),
		schema.GroupResource{Group: t.group, Resource: t.resource}), "")
	return found
}

// lets reports whether RBAC lets an account update or patch the target.
func (p policy) lets(a cluster.ServiceAccount, t target) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool {
		object, _, _ := g.allows(t)
		return (g.anybody || g.names(a)) && len(object) > 0
	})
}

// lacking returns a role of an account that allows other verbs on the target, and a clause that
// says which.
func (p policy) lacking(a cluster.ServiceAccount, t target) (role, says string) {
	for _, g := range p.grants {
		if !slices.Contains(g.accounts, a) {
			continue
		}
		for _, r := range g.rules {
			if len(r.names) == 0 && has(r.groups, t.group) && has(r.resources, t.resource) && !r.everything() {
				return g.role, fmt.Sprintf("%s, which %s gives it, allows %s of %s, and neither patch nor update", g.role,
					g.binding, phrase.And(r.verbs), t.resource)
			}
		}
	}
	return "", ""
}

// roleFor returns the one ClusterRole that is about the target, has no rule about everything, and is
// not one of those that come with Kubernetes.
func (p policy) roleFor(t target) string {
	var names []string
	for name, rules := range p.roles {
		object, _, every := grant{rules: rules}.allows(t)
		if len(object) > 0 && !every && !slices.ContainsFunc(rules, rule.everything) && !strings.HasPrefix(name, "system:") &&
			!slices.Contains([]string{"admin", "edit", "cluster-admin"}, name) {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// mayHaveOtherPermissions reports whether a workload may have other permissions than those of its
// ServiceAccount. What needs permissions has an account of its own: one that runs as the default
// one authenticates in another way, or is not the part that writes.
func mayHaveOtherPermissions(w *unstructured.Unstructured) bool {
	return Account(w).Name == "default" || slices.ContainsFunc(containersOf(w), func(c container) bool {
		_, env := c.env["KUBECONFIG"]
		return env || slices.ContainsFunc(c.args, func(arg string) bool {
			return strings.HasPrefix(arg, "--kubeconfig") || strings.HasPrefix(arg, "-kubeconfig")
		})
	})
}
