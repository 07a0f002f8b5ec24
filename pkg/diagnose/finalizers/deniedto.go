package finalizers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

var (
	quotas   = schema.GroupResource{Resource: "resourcequotas"}
	accounts = schema.GroupResource{Resource: "serviceaccounts"}
)

// deniedTo is for an actor to which the server denies what it needs for the deletion: since then, the
// object says that a ResourceQuota is exceeded or that a ServiceAccount lacks a right, or a Job that
// belongs to it does.
func (e holders) deniedTo(ctx context.Context, q *question) []core.Finding {
	if q.o.GetDeletionTimestamp() == nil || q.a.Life == actor.Dead {
		return nil
	}
	for _, o := range append([]*unstructured.Unstructured{q.o}, e.jobsOf(ctx, q)...) {
		for _, t := range e.toldSince(ctx, o, q.o.GetDeletionTimestamp().Time) {
			f, ok := e.overQuota(ctx, q, o, t)
			if !ok {
				f, ok = e.withoutRight(ctx, q, t)
			}
			if ok {
				f.Evidence = t.evidence
				f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
				q.proven = len(q.o.GetFinalizers()) == 1 // otherwise it may be what another actor needs
				return []core.Finding{f}
			}
		}
	}
	return nil
}

// overQuota is for a text that says that a ResourceQuota in the namespace of an object is exceeded.
func (e holders) overQuota(ctx context.Context, q *question, o *unstructured.Unstructured, t told) (core.Finding,
	bool) {
	name := status.ExceededQuota(t.text)
	if name == "" {
		return core.Finding{}, false
	}
	f, quota := q.waiting(), fmt.Sprintf("ResourceQuota %s/%s", o.GetNamespace(), name)
	f.Sentence = fmt.Sprintf("%s cannot create what it needs for the deletion: %s is exceeded", core.Whoever(q.a), quota)
	f.Remedy = phrase.Sentence(fmt.Sprintf("raise %s, or free some of it: then %s goes on", quota, core.Whoever(q.a)))
	f.Commands = nil
	read, err := e.Reader.GetObject(ctx, quotas, o.GetNamespace(), name)
	switch {
	case err == nil && read == nil: // what was told is over
		return core.Finding{}, false
	case err == nil:
		f.About = new(e.Ref(read))
		f.Commands = []core.Step{core.Describe().Safely("shows what is used of it")}
	}
	return f, true
}

// withoutRight is for a text that says that a ServiceAccount lacks a right. Who may not write the
// object itself is somebody else's finding.
func (e holders) withoutRight(ctx context.Context, q *question, t told) (core.Finding, bool) {
	d, ok := status.DeniedRight(t.text)
	own, _ := e.Catalog.Kind(q.o.GetAPIVersion(), q.o.GetKind())
	if !ok || d.Resource == own.Resource && d.Group == own.Group && slices.Contains([]string{"update", "patch"}, d.Verb) {
		return core.Finding{}, false
	}
	if e.mayNow(ctx, d) {
		return core.Finding{}, false
	}
	f, account := q.waiting(), fmt.Sprintf("ServiceAccount %s/%s", d.AccountNamespace, d.Account)
	right, ask := whetherItMay(d)
	f.Sentence = fmt.Sprintf("%s is denied what it needs for the deletion: %s may not %s", core.Whoever(q.a), account,
		right)
	gone, err := e.Reader.GetObject(ctx, accounts, d.AccountNamespace, d.Account)
	if err == nil && gone == nil {
		f.Sentence = fmt.Sprintf("%s was denied what it needs for the deletion as %s, which does not exist", core.Whoever(q.a),
			account)
		f.Remedy = "Rights for that account are of no use. Find out as what account it runs now, and have it work on the object " +
			"again: a restart does that."
		f.Commands = []core.Step{core.Describe().Safely("shows what its controller says of it")}
		return f, true
	}
	f.Remedy = phrase.Sentence(fmt.Sprintf("let %s %s: then %s goes on", account, right, core.Whoever(q.a)))
	f.Commands = []core.Step{core.FixedCommand(ask...).Safely("asks the server whether it may: yes, once it is permitted")}
	return f, true
}

// whetherItMay names a right as a clause, and is the command that asks for it.
func whetherItMay(d status.Denied) (right string, ask []string) {
	resource, sub, _ := strings.Cut(d.Resource, "/")
	what := schema.GroupResource{Group: d.Group, Resource: resource}.String()
	right, ask = d.Verb+" "+what, []string{"kubectl", "auth", "can-i", d.Verb, what,
		"--as=system:serviceaccount:" + d.AccountNamespace + ":" + d.Account}
	if sub != "" {
		right, ask = d.Verb+" subresource "+sub+" of "+what, append(ask, "--subresource="+sub)
	}
	if d.Namespace != "" {
		right, ask = right+" in namespace "+d.Namespace, append(ask, "-n", d.Namespace)
	}
	return right, ask
}

// mayNow says that the server permits by now what it has denied. Where it cannot be asked the text
// stands.
func (e holders) mayNow(ctx context.Context, d status.Denied) bool {
	resource, sub, _ := strings.Cut(d.Resource, "/")
	r, served := e.Catalog.Lookup(schema.GroupResource{Group: d.Group, Resource: resource})
	if !served {
		return false
	}
	review, err := e.Reader.ReviewOf(ctx, cluster.ServiceAccount{Namespace: d.AccountNamespace, Name: d.Account},
		cluster.Access{Verb: d.Verb, Subresource: sub, Type: r.Type, Namespace: d.Namespace})
	return err == nil && review.Permission == cluster.Allowed
}

// told is a text that an object says, or a warning about it, as evidence too.
type told struct {
	text     string
	evidence []v1alpha1.Observation
}

// toldSince are what conditions of an object say that have changed since a time, and warnings that
// came since.
func (e holders) toldSince(ctx context.Context, o *unstructured.Unstructured, since time.Time) []told {
	var all []told
	for _, c := range status.Conditions(o) {
		if !c.Since.Before(since) {
			all = append(all, told{c.Message, core.ObservedAt(cluster.Place(o, c.Field), e.Quoted(c))})
		}
	}
	for i, w := range e.WarnedSince(ctx, o, since) {
		all = append(all, told{w.Message, core.ObservedAt(cluster.Place(w.Event, ""), e.QuotedWarning(i, w))})
	}
	return all
}

// jobsOf returns the Jobs that belong to an object: those that it owns and that were made since its
// deletion, and those for which its actor waits.
func (e holders) jobsOf(ctx context.Context, q *question) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, h := range q.a.Known.HeldBy {
		if h.Kind == "Job" && h.Applies(q.o.Object) {
			all = append(all, e.belonging(ctx, q.o, h)...)
		}
	}
	for id := range e.Dependents(q.o) {
		if ref := e.Graph.Ref(id); ref.Kind == "Job" && ref.Group() == "batch" {
			if o, err := e.Object(ctx, id); err == nil && o != nil &&
				!o.GetCreationTimestamp().Time.Before(q.o.GetDeletionTimestamp().Time) {
				all = append(all, o)
			}
		}
	}
	return all
}
