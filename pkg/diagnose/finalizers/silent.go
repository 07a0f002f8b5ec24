package finalizers

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// silent completes a finding about a finalizer of which nobody knows for certain who removes it, and
// where nothing says what keeps the object: it names the workload that is likeliest to, and what its
// log may mean, or says that RBAC lets no controller.
func (e *Examiner) silent(ctx context.Context, b core.Responsible, f core.Finding,
	worked []v1alpha1.Observation) core.Finding {
	if f.Code != core.FinalizerActorUnknown || f.Sentence != "" || b.RunsOutside() {
		return f
	}
	leads, to := e.leads(ctx, b.Object), e.leadsTo(ctx, b)
	first, _ := lead(b, to)
	running := to.Running(phrase.MaxNamed, nil)
	switch {
	case runs(b, first):
		f.Sentence = cluster.Located(first) + mostLikely + ": it runs, and nothing is seen of what it waits for"
		f.Evidence = append(f.Evidence, unseenGeneration(b.Object, worked)...)
		f.Remedy = f.Usual() + " If its log has an error about the object, fix that. If its log says that it has finished, the version " +
			"that runs may not know this finalizer, which can be removed then."
	case first == nil && b.Who == "" && len(running) > 1 && len(running) < phrase.MaxNamed && len(leads.Unread) == 0:
		f.Sentence = fmt.Sprintf("it is not known which of %s removes the finalizer: they run, and nothing is seen of what it waits for",
			phrase.And(phrase.Words(running, cluster.Located)))
	case first == nil && len(worked) == 0 && !b.IsKnown && b.Namesake == nil && leads.NoController() &&
		!cluster.BuiltIn(b.Object.GroupVersionKind().Group):
		f.Sentence = "RBAC lets no controller remove the finalizer; its controller may have been uninstalled, lack its role, or run " +
			"outside the cluster"
		if n := leads.Everything; n > 0 {
			f.Sentence = fmt.Sprintf("RBAC lets no controller remove the finalizer, except %s that may write everything; unless its "+
				"controller runs as such, it may have been uninstalled, lack its role, or run outside the cluster", phrase.Count(n, "ServiceAccount"))
		}
		f.Remedy = f.Usual() + " If it runs, give it its role again. If it was uninstalled, install it again to have it do its work, or do " +
			"by hand what it would and remove the finalizer."
	}
	return f
}

// mostLikely is what is said of the workload that is likeliest to remove a finalizer, behind its name.
const mostLikely = " most likely removes the finalizer"

// runs reports whether a workload is likely to remove the finalizer, and runs.
func runs(b core.Responsible, first *unstructured.Unstructured) bool {
	return first != nil && likely(b, first) && first.GetUID() != b.Object.GetUID() &&
		actor.ReadWorkload(first).Life == actor.Alive
}

// likeliest says of the one workload that is likeliest to remove a finalizer, and runs, that it does
// so, in a sentence that begins with that nobody knows who does.
func (e *Examiner) likeliest(ctx context.Context, b core.Responsible, sentence string) string {
	rest, begins := strings.CutPrefix(sentence, unsure(b)+"; ")
	if !begins || b.RunsOutside() || b.Namesake != nil && strings.Contains(rest, cluster.Located(b.Namesake)) {
		return sentence
	}
	first, _ := lead(b, e.leadsTo(ctx, b))
	if !runs(b, first) || strings.Contains(rest, cluster.Located(first)) {
		return sentence
	}
	return cluster.Located(first) + mostLikely + "; " + rest
}

// unseenGeneration is the evidence that the status of an object which nobody has worked on since its
// deletion is about a generation before that, which a deletion raises.
func unseenGeneration(o *unstructured.Unstructured, worked []v1alpha1.Observation) []v1alpha1.Observation {
	says := strings.Trim(behind(o), " ()")
	if says == "" || len(worked) > 0 {
		return nil
	}
	return core.ObservedAt(cluster.Place(o, "status.observedGeneration"),
		says+": a deletion raises that, and whoever writes the status has not done so since")
}

// inClosing completes a finding about an object whose namespace is being deleted, where nothing says
// what its controller waits for: that may need what can no longer be created there
// (https://github.com/fybrik/fybrik/issues/105), or watch the namespace no more
// (https://github.com/nolar/kopf/issues/1088).
func (e *Examiner) inClosing(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	o := b.Object
	ns := o.GetNamespace()
	if cluster.BuiltIn(o.GroupVersionKind().Group) || !e.Closed(ctx, ns) {
		return f
	}
	f.Evidence = append(f.Evidence, core.ObservedAt(ns, fmt.Sprintf(
		"namespace %s is being deleted: nothing can be created in it, and what the object needs may be gone", ns))...)
	if f.Remedy == "" && f.Code == core.FinalizerActorAlive {
		f.Sentence = b.Name + " is alive, and may not get any further in a namespace that is being deleted"
		f.Remedy = phrase.Sentence(b.Name + " is alive")
	}
	f.Remedy = f.Usual() + fmt.Sprintf(" If its log says that it cannot create something in namespace %s, do by hand what that was for and "+
		"remove the finalizer. If it does not name the object, it may no longer watch a namespace that is being deleted: have it watch "+
		"all namespaces.", ns)
	return f
}
