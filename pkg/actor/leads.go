package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

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

// addPlaced finds who may write objects of the type in other namespaces, and who runs as them.
func (f *Finder) addPlaced(ctx context.Context, p *Permissions, o *unstructured.Unstructured, t target) {
	p.Placed = f.placed(ctx, o, t)
	p.Placed = p.Placed[:min(len(p.Placed), phrase.MaxNamed)]
	var they Permissions
	for _, at := range p.Placed {
		they.Accounts = append(they.Accounts, at.Permitted)
	}
	f.addWorkloads(ctx, &they)
	for i, a := range they.Accounts {
		p.Placed[i].Permitted = a
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
	}
	for _, at := range p.Placed {
		all = append(all, v1alpha1.Observation{Says: at.says(p.what + " in namespace " + at.Namespace), From: at.Binding})
	}
	return all
}

// Only returns the one workload that may, nil if there are several, none, or if not everything
// could be listed.
func (p Permissions) Only() *unstructured.Unstructured {
	var only []*unstructured.Unstructured
	for _, a := range p.Accounts {
		only = append(only, a.Workloads...)
	}
	if len(only) != 1 || len(p.Unread) > 0 || p.Anybody != "" {
		return nil
	}
	return only[0]
}

// Running returns the first few of the workloads that may, and that run.
func (p Permissions) Running(most int) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, a := range p.Accounts {
		for _, w := range a.Workloads {
			if len(all) < most && running(w) {
				all = append(all, w)
			}
		}
	}
	return all
}
