package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// need is something that whoever removes a finalizer may need for that and does not have.
type need struct {
	seen []v1alpha1.Observation
	// what names it as a clause, empty where what was seen is only evidence, and mend says how to
	// mend that.
	what, mend string
	// look are the commands that show more of it.
	look []core.Step
	// mutual says that it is no more than what is being deleted as well, and may wait for the object.
	mutual bool
	// waited are the objects of which the object says that they have to go first, as far as these
	// are being deleted as well.
	waited []namer
}

// lacked is all that was seen of what whoever cleans up after an object may need, with the first
// need that was found. Says is what was seen of that. Ownerless names the owner of the object, if
// that does not exist, and first is the name of the first object that it names and that does not.
type lacked struct {
	need
	says, ownerless, first string
	// other is an object that it may miss too, which may have gone in good order.
	other string
	// expired is what it may mean that the object says that it is of use no more, as a sentence
	// with a space in front.
	expired string
	// done is what it may mean that its Jobs have succeeded, written likewise.
	done string
	// renamed is the evidence that another version of the program put the finalizer there.
	renamed []v1alpha1.Observation
}

// also says what may be lacking beside what the object says, as a sentence with a space in front;
// empty if that says the same.
func (l lacked) also(says saying) string {
	if l.what == "" || l.first != "" && strings.Contains(says.message, l.first) {
		return ""
	}
	return " It may need " + l.what + ": " + l.mend + " if so."
}

// others says that the log may tell of an object that is missed, as a sentence with a space in
// front; empty if there is none.
func (l lacked) others() string {
	if l.other == "" {
		return ""
	}
	return " The log says so if it misses " + l.other + ", which is gone: create that again if so."
}

// missed says that somebody may not look at an object whose owner is gone.
func (l lacked) missed(who string) string {
	return fmt.Sprintf("But the owner of the object, %s, does not exist any more: if %s looks at the object only for the sake of its owner, "+
		"remove the finalizer by hand.", l.ownerless, who)
}

// mayLack looks for what the actor of a finalizer may need and does not have. What is likeliest to keep
// it is asked for first.
func (e dependencies) mayLack(ctx context.Context, b core.Responsible) (l lacked) {
	o := b.Object
	if o.GetDeletionTimestamp() == nil {
		return l
	}
	named, through, jobs := e.whatItNames(ctx, o, b.Known.Needs...), e.throughOwner(ctx, o), e.itsJobs(ctx, o)
	absent := e.absence(ctx, b, named, through)
	for _, n := range []need{e.ownFailed(ctx, o, jobs), e.speaks(ctx, o), e.mayNotDelete(ctx, b), e.stillSelected(ctx, o),
		e.ungranted(ctx, o), e.namesakeGone(ctx, b), e.volumeGone(ctx, b), e.twin(ctx, b), absent, e.selectsNone(ctx, o),
		e.ownPodsDown(ctx, o), e.stopped(o), e.siblings(ctx, b), named.faults()} {
		if l.seen = append(l.seen, n.seen...); l.what == "" && n.what != "" {
			l.what, l.mend, l.look, l.mutual = n.what, n.mend, n.look, n.mutual
			l.says = ofTheObject(n.seen[0].Says)
		}
		l.waited = append(l.waited, n.waited...)
	}
	succeeded, done := e.done(o, jobs)
	l.seen = slices.Concat(l.seen, through.others, succeeded, e.come(ctx, o), e.elsewhere(ctx, o), named.unseen,
		named.classes)
	l.done, l.other, l.first = done, through.other, cmp.Or(named.first.Name, through.first.Name)
	if until := status.Expired(o, e.Now); until.Text != "" && len(e.workedOn(ctx, o)) == 0 {
		l.seen = append(l.seen, core.ObservedAt(cluster.Place(o, until.Field),
			fmt.Sprintf("its %s, %s, is past", until.Field, until.Text))...)
		l.expired = fmt.Sprintf(" Its %s is past, and perhaps nothing is done for it since, not even to clean up. Set a time to come, or remove "+
			"the finalizer where what it stands for went then.", until.Field)
	}
	if l.ownerless = e.absentOwner(ctx, o); l.ownerless != "" {
		l.seen = append(l.seen, core.ObservedAt(cluster.Place(o, "metadata.ownerReferences"),
			"its owner "+l.ownerless+" does not exist")...)
	}
	return l
}

// absence is the need of what the object names, or what it belongs to does, and what does not exist.
func (e dependencies) absence(ctx context.Context, b core.Responsible, by named, through goneForAll) need {
	n, first := need{seen: slices.Concat(by.absent, through.own)}, by.first
	if first.Kind == "" {
		first = through.first
	}
	// What is to be cleaned up may have been deleted with what is of the object's own group, but not
	// with the class of an Ingress. A pack says itself what is lost with what the program needs.
	group := b.Object.GroupVersionKind().Group
	wentToo := first.Group() == group && !cluster.BuiltIn(group) && !b.IsKnown
	switch {
	case len(n.seen) == 0:
	case strings.Contains(n.seen[0].Says, "its metadata.labels["):
		n.what, n.mend = "what a label of the object names and does not exist", "create that again, or take the label off,"
	case first.Kind != "" && first.Resource == "":
		n.what, n.mend = "what the object names, of a kind that the cluster does not serve", "install its definition"
	case by.unmatched:
		n.what, n.mend = "what the object names, in a version of its API that the cluster does not serve", "name it in one that is served, "+
			"or remove the finalizer where what it is to clean up was never made,"
	case first.Namespace != "" && e.Closed(ctx, first.Namespace):
		n.what = "what the object names and does not exist, and what cannot be created in a namespace that is being deleted"
		n.mend = "clean up by hand, and remove the finalizer"
	case len(by.absent) == 0:
		n.what, n.mend = "what the object it belongs to names and does not exist", "create that again"
	case wentToo:
		n.what = "what the object names and does not exist"
		n.mend = "create that again, or remove the finalizer where what it is to clean up was deleted with that,"
	default:
		n.what, n.mend = "what the object names and does not exist", "create that again"
	}
	return n
}

// faults is the need of what the object names, which is there and does not work, or is being deleted.
func (n named) faults() need {
	switch {
	case len(n.failing) == 0:
		return need{}
	case len(n.leaving) != len(n.failing):
		return need{seen: n.failing, what: "what the object names, which does not work or is being deleted itself",
			mend: "see to that first"}
	}
	of := need{seen: n.failing, what: "what the object names, which is being deleted as well and may wait for the object in turn",
		mend: "see which of them has to go first", mutual: true}
	for _, by := range n.leaving[:min(len(n.leaving), phrase.MaxNamed)] {
		of.look = append(of.look, core.At(by.ref, core.Command("kubectl", "describe", "OBJECT").
			Safely("shows what that waits for")))
	}
	return of
}

// ofTheObject is a clause of the evidence about an object, as one of a sentence about somebody else.
func ofTheObject(says string) string {
	if rest, its := strings.CutPrefix(says, "its "); its {
		return "the object's " + rest
	}
	return says
}

// ownFailed says why pods fail that were made for a custom resource since its deletion, through a
// Job or without, and why there are none of such a Job or DaemonSet: as a rule they do what has to be
// done before it goes. A Job that has succeeded did what it was made for, and so stands for those
// before it.
func (e dependencies) ownFailed(ctx context.Context, o *unstructured.Unstructured,
	jobs []*unstructured.Unstructured) need {
	if cluster.BuiltIn(o.GroupVersionKind().Group) || o.GetDeletionTimestamp() == nil || e.Many {
		return need{}
	}
	var d core.Downtime
	since := func(made graph.ID) bool { return e.Graph.CreationTimestamp(made) >= o.GetDeletionTimestamp().Unix() }
	var pods []graph.ID
	for id := range e.Dependents(o) {
		switch ref := e.Graph.Ref(id); {
		case core.OfType(cluster.Pods)(ref):
			pods = append(pods, id)
		case ref.Kind == "DaemonSet" && since(id):
			e.withoutNodes(ctx, &d, id)
		}
	}
	for _, job := range unsucceeded(jobs) {
		before := len(pods)
		if pods = slices.AppendSeq(pods, e.Dependents(job)); len(pods) == before {
			e.withoutPods(ctx, &d, job)
		}
	}
	for _, pod := range pods {
		if !core.OfType(cluster.Pods)(e.Graph.Ref(pod)) || !since(pod) || len(d.Repairs) == phrase.MaxNamed {
			continue
		}
		if made := e.Own(ctx, pod); made != nil && !goesOn(made) {
			d.AddPod(ctx, e.Examination, made)
		}
	}
	if len(d.Evidence) == 0 {
		return need{}
	}
	return need{seen: d.Evidence, look: d.Steps, mend: "mend what they fail for",
		what: "the Job or the pods to succeed that were made for it since the deletion"}
}

// withoutPods says why there are no pods of a Job that has not succeeded; nothing if they may come
// yet. What the server refuses, a quota or PodSecurity, is said in events about the Job. One that
// has failed at its deadline has none left.
func (e dependencies) withoutPods(ctx context.Context, d *core.Downtime, job *unstructured.Unstructured) {
	if job.GetDeletionTimestamp() != nil {
		return
	}
	name := cluster.Located(job)
	suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
	switch c, failed := status.Find(job, "Failed"); {
	case failed && c.Status == "True":
		d.Evidence = append(d.Evidence, core.ObservedAt(cluster.Place(job, c.Field),
			fmt.Sprintf("%s has failed, and is not tried again: %s", name, core.Brief(cmp.Or(c.Message, c.Reason))))...)
	case suspended:
		d.Evidence = append(d.Evidence, core.ObservedAt(cluster.Place(job, "spec.suspend"),
			name+" is suspended, so that it has no pods")...)
	default:
		faults, _ := e.Actors.Faults(ctx, job)
		if !slices.ContainsFunc(faults, func(f actor.Fault) bool { return !f.Starting }) {
			return
		}
		d.Add(ctx, e.Examination, job)
	}
	d.Show(core.At(e.Ref(job), core.Describe()), "shows what is said of the pods of "+name)
}

// withoutNodes says that a DaemonSet is to have no pods, since no Node is as it wants: one of
// Submariner uninstalls what is on the nodes with a label
// (https://github.com/stolostron/submariner-addon/pull/1467).
func (e dependencies) withoutNodes(ctx context.Context, d *core.Downtime, id graph.ID) {
	set := e.Own(ctx, id)
	if set == nil {
		return
	}
	if wants := wantsOthers(set); wants != "" {
		says := fmt.Sprintf("%s, made for it since its deletion, has no pods: it selects Nodes with the labels %s, and none is eligible",
			cluster.Located(set), wants)
		d.Evidence = append(d.Evidence, core.ObservedAt(cluster.Place(set, "status.desiredNumberScheduled"), says)...)
		d.Show(core.At(e.Ref(set), core.Describe()), "shows what is said of its pods")
	}
}

// wantsOthers are the labels of the Nodes that a DaemonSet wants, if its controller has found none
// for it; empty otherwise.
func wantsOthers(set *unstructured.Unstructured) string {
	wants, _, _ := unstructured.NestedStringMap(set.Object, "spec", "template", "spec", "nodeSelector")
	seen, _, _ := unstructured.NestedInt64(set.Object, "status", "observedGeneration")
	desired, said, _ := unstructured.NestedInt64(set.Object, "status", "desiredNumberScheduled")
	if !said || desired > 0 || seen < set.GetGeneration() || set.GetDeletionTimestamp() != nil || len(wants) == 0 {
		return ""
	}
	return labels.FormatLabels(wants)
}

// goesOn reports whether a pod has succeeded, or runs and none of its containers waits.
func goesOn(pod *unstructured.Unstructured) bool {
	all, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
	waits := slices.ContainsFunc(all, func(item any) bool {
		m, _ := item.(map[string]any)
		waiting, _, _ := unstructured.NestedMap(m, "state", "waiting")
		return len(waiting) > 0
	})
	phase := status.Nested(pod, "status", "phase")
	return phase == "Succeeded" || phase == "Running" && !waits
}

// absentOwner names the controller of an object, or its only owner, if that is proven not to exist.
func (e dependencies) absentOwner(ctx context.Context, o *unstructured.Unstructured) string {
	refs := o.GetOwnerReferences()
	if c := metav1.GetControllerOf(o); c != nil {
		refs = []metav1.OwnerReference{*c}
	}
	if len(refs) != 1 || o.GetDeletionTimestamp() == nil || e.Many {
		return ""
	}
	r, served := e.Catalog.Kind(refs[0].APIVersion, refs[0].Kind)
	if !served {
		return ""
	}
	ref := core.RefTo(r, o.GetNamespace(), refs[0].Name)
	owner, err := e.Reader.GetObject(ctx, r.GroupResource(), ref.Namespace, ref.Name)
	if err != nil || owner != nil { // or another one of that name
		return ""
	}
	return ref.Located()
}

// ownPodsDown is the need of the pods of the workloads that a custom resource owns.
func (e dependencies) ownPodsDown(ctx context.Context, o *unstructured.Unstructured) need {
	if down := e.ownDown(ctx, o, "it"); len(down) > 0 {
		return need{seen: down, what: "the pods of the object, which do not run", mend: "repair them"}
	}
	return need{}
}

// ownDown says why the pods of the workloads that a custom resource owns do not run: whoever cleans
// up after it, or after what names it, may have to speak to them, and waits for what never comes.
// What may still start is left out.
func (e dependencies) ownDown(
	ctx context.Context, o *unstructured.Unstructured, who string,
) (seen []v1alpha1.Observation) {
	if cluster.BuiltIn(o.GroupVersionKind().Group) || e.Many {
		return nil
	}
	for id := range e.Dependents(o) {
		ref := e.Graph.Ref(id)
		if ref.Group() != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, ref.Kind) ||
			len(seen) >= phrase.MaxNamed {
			continue
		}
		w := e.Own(ctx, id)
		if w == nil || actor.ReadWorkload(w).Life == actor.Alive {
			continue
		}
		faults, _ := e.Actors.Faults(ctx, w)
		for _, fault := range faults {
			if fault.Pod != nil && !fault.Starting {
				seen = append(seen, core.ObservedAt(fault.From, who+" owns "+ref.Located()+", and "+fault.Says)...)
			}
		}
	}
	return seen
}
