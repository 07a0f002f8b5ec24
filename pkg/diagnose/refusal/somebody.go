package refusal

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// Account is a ServiceAccount that would make a write, and who uses it.
type Account struct {
	cluster.ServiceAccount
	who string
}

// The ServiceAccounts of controllers of Kubernetes, where kube-controller-manager uses one for each
// of them, which is the default of all that set it up.
var (
	CollectorAccount = Account{cluster.ServiceAccount{Namespace: "kube-system", Name: "generic-garbage-collector"},
		"the garbage collector"}
	namespacesAccount = Account{cluster.ServiceAccount{Namespace: "kube-system", Name: "namespace-controller"},
		"the namespace controller"}
)

// accountsOf returns the ServiceAccounts of an actor's workloads.
func accountsOf(a actor.Actor) []Account {
	var all []Account
	for _, w := range a.Workloads {
		of := Account{actor.Account(w), core.Whoever(a)}
		if len(all) == 0 || all[len(all)-1] != of {
			all = append(all, of)
		}
	}
	return all
}

// refusedTo returns who refuses a write to a ServiceAccount. It is tried as a dry run where the
// user may impersonate the ServiceAccount, and only if admission looks at such writes at all. Where
// it may not be tried there are suspects: what decides by who asks.
func (e *Examiner) refusedTo(ctx context.Context, w admission.Write, by Account,
	try func(context.Context, *cluster.Client) error) (findings []core.Finding, suspects []v1alpha1.Observation) {
	looked, suspects := e.lookAt(ctx, w, by)
	// of many objects not all are tried for a webhook that does not say by what it decides
	if !looked || e.Many && len(suspects) == 0 {
		return nil, nil
	}
	client, may := e.asAccount(ctx, by)
	if !may {
		return nil, suspects
	}
	err := e.Tries.send(ctx, e, w, func(ctx context.Context) error { return try(ctx, client) })
	if err == nil {
		return nil, nil
	}
	refused, _ := e.refusal(ctx, w, err)
	if cluster.Unasked(err) != nil {
		return refused, nil
	}
	for _, f := range refused {
		if f.Code == core.AdmissionDenied {
			findings = append(findings, f)
		}
	}
	if len(findings) == 0 { // it may do less than the user for other reasons
		return nil, suspects
	}
	to := fmt.Sprintf("it was tried as ServiceAccount %s/%s, which is that of %s", by.Namespace, by.Name, by.who)
	if try(ctx, e.Client) == nil {
		to += "; with your own permissions it succeeds"
		for i := range findings {
			findings[i].Remedy = findings[i].Usual() +
				fmt.Sprintf(" It denies the %s to %s and not to you: kubectl gc can do it with your permissions.", w, by.who)
		}
	}
	for i := range findings {
		findings[i].Actor = by.who
		findings[i].Observe("%s", to)
	}
	return findings, nil
}

// asAccount returns a client that asks as a ServiceAccount, if the user may impersonate that.
func (e *Examiner) asAccount(ctx context.Context, by Account) (*cluster.Client, bool) {
	r, ok := e.Reader.KindIn("", "ServiceAccount")
	if !ok || by.Name == "" {
		return nil, false
	}
	impersonate := cluster.Access{Verb: "impersonate", Type: r.Type, Namespace: by.Namespace, Name: by.Name}
	if e.Reviews.Permission(ctx, impersonate) != cluster.Allowed {
		return nil, false
	}
	client, err := e.Client.As(by.ServiceAccount)
	return client, err == nil
}

// lookAt reports whether anything in admission looks at a write, and what decides by who asks.
func (e *Examiner) lookAt(ctx context.Context, w admission.Write, by Account) (looked bool,
	suspects []v1alpha1.Observation) {
	suspect := func(what string, config *unstructured.Unstructured) {
		suspects = append(suspects, core.ObservedAt(cluster.Place(config, ""),
			fmt.Sprintf("%s is called for %s and decides by who asks: it may refuse %s and not you", what, w, by.who))...)
	}
	hooks, _ := e.hooks(ctx, w, "")
	for _, h := range hooks {
		looked = true
		for _, c := range h.MatchConditions {
			if admission.AsksWho(c.Expression) {
				suspect(h.String(), h.Config)
				break
			}
		}
	}
	policies, _ := e.Reader.Admission().Policies(ctx, admission.ValidatingPolicies, w)
	for _, p := range policies {
		looked = true
		if p.ByWho {
			suspect(p.String(), p.Config)
		}
	}
	return looked, suspects
}

// RefusedToActor returns who refuses to the actor of a finalizer to remove it, although the user
// could.
func (e *Examiner) RefusedToActor(ctx context.Context, o *unstructured.Unstructured,
	a actor.Actor) (findings []core.Finding, suspects []v1alpha1.Observation) {
	t, ok := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	steps := withoutFinalizers(o, []string{a.Finalizer})
	if !ok || len(steps) == 0 {
		return nil, nil
	}
	update, accounts := admission.Write{Operation: admissionv1.Update, Type: t, Object: o}, accountsOf(a)
	if len(accounts) == 0 && a.Life == actor.Alive { // found by other signs: nobody knows as whom it asks
		_, suspects = e.lookAt(ctx, update, Account{who: core.Whoever(a)})
		return nil, suspects
	}
	for _, by := range accounts {
		if findings, suspects = e.refusedTo(ctx, update, by, removing(update, steps)); len(findings) > 0 {
			break
		}
	}
	for i := range findings {
		findings[i].Cost = core.Cost(a)
		findings[i].Commands = append(findings[i].Commands,
			e.ByHand(o, a).Doing("removes the finalizer with your permissions, to which it is not denied").Risking(a.Known.Risk))
	}
	return findings, suspects
}

// removing tries the steps of a patch as a dry run.
func removing(w admission.Write, steps []cluster.PatchStep) func(context.Context, *cluster.Client) error {
	return func(ctx context.Context, c *cluster.Client) error {
		_, err := c.Patch(ctx, w.Type, w.Object.GetNamespace(), w.Object.GetName(), steps, cluster.PatchOptions{DryRun: true})
		return err
	}
}
