package actor

import (
	"context"
	"fmt"
	"slices"

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
	switch {
	case len(p.Unread) > 0:
		all = append(all, v1alpha1.Observation{Says: "who may remove it is not fully known: " + phrase.And(p.Unread)})
	case len(p.Accounts) == 0 && p.Anybody == "" && p.Everything == 0:
		all = append(
			all, v1alpha1.Observation{Says: fmt.Sprintf(
				"RBAC lets no ServiceAccount update or patch %s but those of Kubernetes itself", p.what)})
	case len(p.Accounts) == 0 && p.Anybody == "":
		all = append(
			all, v1alpha1.Observation{Says: fmt.Sprintf(
				"RBAC lets no ServiceAccount update or patch %s but those of Kubernetes itself and %d that may write everything",
				p.what, p.Everything)})
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
