package actor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Permitted is a ServiceAccount that RBAC lets write an object, or its subresource finalizers. It
// is a lead, and no sign of life of an actor.
type Permitted struct {
	// Account has no name if it is every ServiceAccount of the namespace.
	Account cluster.ServiceAccount
	// Binding is what lets it: "ClusterRoleBinding kustomize-controller".
	Binding string
	// Verbs are those of update and patch that it may, and Finalizers says that it may on the
	// subresource only.
	Verbs      []string
	Finalizers bool
	// Status says that it may write the status of the object as well, as the controller of a type does.
	Status bool
	// Workloads run as the account: Deployments, StatefulSets and DaemonSets, or pods if there are
	// none.
	Workloads []*unstructured.Unstructured
}

// Permissions are who may remove the finalizers of an object.
type Permissions struct {
	// Accounts may by name: those with workloads that run come first. Controllers of Kubernetes and
	// whoever may write everything are left out.
	Accounts []Permitted
	// Everything is how many ServiceAccounts are left out because they may write everything. Where
	// no other may, and they are few, Every are these.
	Everything int
	Every      []Permitted
	// Anybody is a binding that lets every ServiceAccount, or everybody; empty if there is none.
	Anybody string
	// Unread says what could not be listed: nothing may be concluded from who is missing then.
	Unread []string
	// Placed are who may in other namespaces, where nobody may in that of the object.
	Placed []Placed

	// Elsewhere are settings of those that watch other objects, be they left out of Accounts or not.
	Elsewhere []Scope

	what, namespace string
}

// Permitted asks RBAC who may remove the finalizers of an object, and looks for the workloads that
// run as them.
func (f *Finder) Permitted(ctx context.Context, o *unstructured.Unstructured) (Permissions, bool) {
	t, ok := f.reader.Kind(o.GetAPIVersion(), o.GetKind())
	if !ok {
		return Permissions{}, false
	}
	p := f.policyOf(ctx, o.GetNamespace())
	if !p.served {
		return Permissions{}, false
	}
	found := p.permitted(targetOf(t, o))
	found.what, found.Unread = t.GroupResource().String(), slices.Clone(p.unread)
	found.namespace = o.GetNamespace()
	status := p.permitted(target{t.Group, t.Resource + "/status", o.GetName()}).Accounts
	for i, a := range found.Accounts {
		found.Accounts[i].Status = slices.ContainsFunc(status, func(b Permitted) bool { return a.Account == b.Account })
	}
	f.addWorkloads(ctx, &found)
	every := Permissions{Accounts: found.Every} // which are completed in place
	f.addWorkloads(ctx, &every)
	if len(found.Accounts) == 0 && found.Anybody == "" {
		f.addPlaced(ctx, &found, o, targetOf(t, o))
	}
	slices.SortStableFunc(found.Accounts, func(a, b Permitted) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), strings.Compare(a.Account.User(), b.Account.User()))
	})
	return found, true
}

// rank is the higher the more speaks for an account.
func (p Permitted) rank() int {
	rank := 0
	if slices.ContainsFunc(p.Workloads, running) {
		rank += 4
	} else if len(p.Workloads) > 0 {
		rank += 2
	}
	if !p.Finalizers {
		rank++
	}
	return rank
}

// permitted evaluates the bindings.
func (p policy) permitted(t target) Permissions {
	kubernetes, everything, at := map[cluster.ServiceAccount]bool{}, map[cluster.ServiceAccount]bool{},
		map[cluster.ServiceAccount]int{}
	for _, g := range p.grants {
		for _, a := range g.accounts {
			kubernetes[a] = kubernetes[a] || g.kubernetes
		}
	}
	var all Permissions
	for _, g := range p.grants {
		object, finalizers, every := g.allows(t)
		if len(object)+len(finalizers) == 0 {
			continue
		}
		if g.anybody && all.Anybody == "" {
			all.Anybody = g.binding
		}
		for _, a := range g.accounts {
			switch i, known := at[a]; {
			case kubernetes[a]:
			case every:
				everything[a] = true
			case !known:
				at[a] = len(all.Accounts)
				all.Accounts = append(all.Accounts, permittedBy(g, a, object, finalizers))
			case all.Accounts[i].Finalizers && len(object) > 0:
				all.Accounts[i] = permittedBy(g, a, object, nil)
			default:
				all.Accounts[i].addVerbs(object)
			}
		}
	}
	for a := range everything {
		if _, known := at[a]; !known {
			all.Everything++
			all.Every = append(all.Every, Permitted{Account: a})
		}
	}
	slices.SortFunc(all.Every, func(a, b Permitted) int { return strings.Compare(a.Account.User(), b.Account.User()) })
	if len(all.Accounts) > 0 || all.Anybody != "" || len(all.Every) > mostEvery {
		all.Every = nil
	}
	return all
}

// mostEvery is of how many ServiceAccounts that may write everything the workloads are looked for.
const mostEvery = 20

// addVerbs adds what another binding allows.
func (p *Permitted) addVerbs(verbs []string) {
	if !p.Finalizers {
		p.Verbs = phrase.Union(p.Verbs, verbs)
	}
}

func permittedBy(g grant, a cluster.ServiceAccount, object, finalizers []string) Permitted {
	if len(object) > 0 {
		return Permitted{Account: a, Binding: g.binding, Verbs: object}
	}
	return Permitted{Account: a, Binding: g.binding, Verbs: finalizers, Finalizers: true}
}

// allows returns what a grant allows by rules that are about less than everything, and if there are
// none, by those.
func (g grant) allows(t target) (object, finalizers []string, every bool) {
	var all []string
	for _, r := range g.rules {
		o, s := r.verbsFor(t)
		if r.everything() {
			all = phrase.Union(all, o)
			continue
		}
		object, finalizers = phrase.Union(object, o), phrase.Union(finalizers, s)
	}
	if len(object)+len(finalizers) == 0 {
		return all, nil, len(all) > 0
	}
	return object, finalizers, false
}

// says is the evidence that an account may, and who runs as it.
func (p Permitted) says(what string) string {
	who := fmt.Sprintf("ServiceAccount %s/%s", p.Account.Namespace, p.Account.Name)
	if p.Account.Name == "" {
		who = "every ServiceAccount of namespace " + p.Account.Namespace
	}
	if p.Finalizers {
		what += "/finalizers"
	}
	says := fmt.Sprintf("%s may %s %s (%s)", who, phrase.And(p.Verbs), what, p.Binding)
	if len(p.Workloads) == 0 {
		return says + "; no workload was seen that uses it"
	}
	return says + "; " + phrase.And(phrase.Words(p.Workloads, uses))
}

// addWorkloads finds who runs as the accounts.
func (f *Finder) addWorkloads(ctx context.Context, p *Permissions) {
	var namespaces []string
	for _, a := range p.Accounts {
		if !slices.Contains(namespaces, a.Account.Namespace) {
			namespaces = append(namespaces, a.Account.Namespace)
		}
	}
	workloads, unread := f.workloadsIn(ctx, namespaces)
	p.Unread = append(p.Unread, unread...)
	by := map[cluster.ServiceAccount][]*unstructured.Unstructured{}
	for _, o := range workloads {
		account := Account(o)
		by[account] = append(by[account], o)
		by[cluster.ServiceAccount{Namespace: account.Namespace}] = append(
			by[cluster.ServiceAccount{Namespace: account.Namespace}], o)
	}
	asked := 0
	for i := range p.Accounts {
		a := &p.Accounts[i]
		if a.Workloads = by[a.Account]; len(a.Workloads) > 0 || a.Account.Name == "" || asked == phrase.MaxNamed {
			continue
		}
		asked++
		pods, unread := f.podsOf(ctx, a.Account)
		a.Workloads = pods
		p.Unread = append(p.Unread, unread...)
	}
}

// Observations are the evidence: who may, and who runs as them. Of many the first are named.
func (p Permissions) Observations() []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for _, a := range p.Accounts[:min(len(p.Accounts), phrase.MaxNamed)] {
		all = append(all, v1alpha1.Observation{Says: a.says(p.what), From: a.Binding})
	}
	if more := len(p.Accounts) - phrase.MaxNamed; more > 0 {
		all = append(all, v1alpha1.Observation{Says: fmt.Sprintf("%s more may write %s", phrase.Count(more, "ServiceAccount"),
			p.what)})
	}
	if p.Anybody != "" {
		all = append(all, v1alpha1.Observation{Says: fmt.Sprintf("anybody may write %s (%s)", p.what, p.Anybody),
			From: p.Anybody})
	}
	what := p.what
	if len(p.Placed) > 0 {
		what += " in namespace " + p.namespace
	}
	switch {
	case len(p.Unread) > 0:
		all = append(all, v1alpha1.Observation{Says: "who may remove it is not fully known: " + strings.Join(p.Unread, "; ")})
	case len(p.Accounts) == 0 && p.Anybody == "" && p.Everything == 0:
		all = append(
			all, v1alpha1.Observation{Says: fmt.Sprintf(
				"only Kubernetes' own ServiceAccounts may update or patch %s", what)})
	case len(p.Accounts) == 0 && p.Anybody == "":
		all = append(
			all, v1alpha1.Observation{Says: fmt.Sprintf(
				"only Kubernetes' own ServiceAccounts, and %d that may write everything, may update or patch %s",
				p.Everything, what)})
		for _, a := range p.Every[:min(len(p.Every), phrase.MaxNamed)] {
			if len(a.Workloads) > 0 && len(p.Every) <= phrase.MaxNamed {
				all = append(all, v1alpha1.Observation{Says: fmt.Sprintf("ServiceAccount %s/%s may write everything; %s", a.Account.Namespace,
					a.Account.Name, phrase.And(phrase.Words(a.Workloads, uses)))})
			}
		}
	}
	for _, at := range p.Placed[:min(len(p.Placed), phrase.MaxNamed)] {
		all = append(all, v1alpha1.Observation{Says: at.says(p.what + " in namespace " + at.Namespace), From: at.Binding})
	}
	return all
}

// Workloads returns those of all the accounts.
func (p Permissions) Workloads() (all []*unstructured.Unstructured) {
	for _, a := range p.Accounts {
		all = append(all, a.Workloads...)
	}
	return all
}

// Watching leaves out the workloads that are set to watch other objects than one, where another of the
// same program is not. What another program watches says nothing of theirs.
func (p Permissions) Watching(o *unstructured.Unstructured) Permissions {
	watching, accounts := p, []Permitted(nil)
	all := p.Workloads()
	instead := func(w *unstructured.Unstructured) bool {
		return slices.ContainsFunc(all, func(other *unstructured.Unstructured) bool {
			_, out := leavesOut(other, o, false)
			return !out && sameProgram(w, other)
		})
	}
	for _, a := range p.Accounts {
		workloads := a.Workloads
		a.Workloads = slices.DeleteFunc(slices.Clone(workloads), func(w *unstructured.Unstructured) bool {
			s, out := leavesOut(w, o, false)
			if out {
				watching.Elsewhere = append(watching.Elsewhere, s)
			}
			return out && instead(w)
		})
		if len(a.Workloads) > 0 || len(workloads) == 0 {
			accounts = append(accounts, a)
		}
	}
	watching.Accounts = accounts
	return watching
}

// Without returns the permissions without some of the workloads of the accounts. The accounts stay: that
// RBAC lets them write the object is known all the same.
func (p Permissions) Without(some func(*unstructured.Unstructured) bool) Permissions {
	p.Accounts = slices.Clone(p.Accounts)
	for i, a := range p.Accounts {
		p.Accounts[i].Workloads = slices.DeleteFunc(slices.Clone(a.Workloads), some)
	}
	return p
}

// Only returns the one workload that may, nil if there are several, none, or if not everything
// could be listed.
func (p Permissions) Only() *unstructured.Unstructured {
	only := p.Workloads()
	if len(only) != 1 || len(p.Unread) > 0 || p.Anybody != "" {
		return nil
	}
	return only[0]
}

// Controls returns the one of several workloads that may which may write the status of the object as
// well, nil if there are several, or none.
func (p Permissions) Controls() *unstructured.Unstructured {
	p.Accounts = slices.DeleteFunc(slices.Clone(p.Accounts), func(a Permitted) bool { return !a.Status })
	return p.Only()
}

// Like returns the one of several workloads that may in whose name and images most words of a
// finalizer are, nil if none stands out.
func (p Permissions) Like(finalizer, kind string) *unstructured.Unstructured {
	var like *unstructured.Unstructured
	most, alone := 0, false
	for _, a := range p.Accounts {
		for _, w := range a.Workloads {
			has := CalledLike(w, finalizer, kind)
			if alone = has != most && (alone || has > most); has > most {
				like, most = w, has
			}
		}
	}
	if !alone {
		return nil
	}
	return like
}

// EveryLike is Like for those that may write everything, where no other may.
func (p Permissions) EveryLike(finalizer, kind string) *unstructured.Unstructured {
	p.Accounts = p.Every
	return p.Like(finalizer, kind)
}

// NoController reports whether RBAC lets no ServiceAccount but Kubernetes' own and those that may
// write everything. People, and programs outside the cluster, may all the same.
func (p Permissions) NoController() bool {
	return p.what != "" && len(p.Accounts)+len(p.Placed)+len(p.Unread) == 0 && p.Anybody == ""
}

// Running returns the first few of the workloads that may, and that run, one of them first.
func (p Permissions) Running(most int, first *unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	if first != nil && running(first) {
		all = append(all, first)
	}
	for _, a := range p.Accounts {
		for _, w := range a.Workloads {
			if len(all) < most && running(w) && w != first {
				all = append(all, w)
			}
		}
	}
	return all
}
