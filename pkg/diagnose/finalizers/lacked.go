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

// lacked is what whoever cleans up after an object may need and does not have, and how to mend
// that. Ownerless names its owner, if that does not exist, and first is the name of the first
// object that it names and that does not. Says is the first that was seen of what it may need.
type lacked struct {
	seen                         []v1alpha1.Observation
	says                         string
	what, mend, ownerless, first string
	// other is an object that it may miss too, which may have gone in good order.
	other string
	// expired is what it may mean that the object says that it is of use no more, as a sentence
	// with a space in front.
	expired string
	// done is what it may mean that its Jobs have succeeded, written likewise.
	done string
	// look are the commands that show more of it.
	look []core.Step
	// mutual says that it is no more than what is being deleted as well, and may wait for the object.
	mutual bool
	// waited are the objects of which the object says that they have to go first, as far as these
	// are being deleted as well.
	waited []namer
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

// mayLack are the objects that an object names and that do not exist, are being deleted as well or
// do not work, the pods that it owns and that do not run, or have failed, and its owner, if that is
// gone.
func (e dependencies) mayLack(ctx context.Context, b core.Responsible) lacked {
	o := b.Object
	if o.GetDeletionTimestamp() == nil {
		return lacked{}
	}
	named := e.whatItNames(ctx, o, b.Known.Needs...)
	absent, failing, first := named.absent, named.failing, named.first
	through := e.throughOwner(ctx, o)
	if absent = append(absent, through.own...); first.Kind == "" {
		first = through.first
	}
	jobs := e.itsJobs(ctx, o)
	failed, down, owner := e.ownFailed(ctx, o, jobs), e.ownDown(ctx, o, "it"), e.absentOwner(ctx, o)
	set, all, unready := e.siblings(ctx, b)
	grant, ungranted := e.ungranted(ctx, o)
	untwinned, other, twin := e.twin(ctx, b)
	after, gone := e.namesakeGone(ctx, b)
	of, volume := e.volumeGone(ctx, b)
	stopped, spoken := e.stopped(o), e.speaks(ctx, o)
	unselected, selects := e.selectsNone(ctx, o)
	succeeded, done := e.done(o, jobs)
	denied := e.mayNotDelete(ctx, b)
	selected, selector := e.stillSelected(ctx, o)
	l := lacked{look: failed.Steps, done: done, ownerless: owner, first: first.Name, other: through.other,
		waited: spoken.deleting, seen: slices.Concat(grant, spoken.seen, denied.seen, selected, absent, unselected, untwinned,
			other, after, of, through.others, failing, failed.Evidence, down, unready, stopped, succeeded,
			e.come(ctx, o), e.elsewhere(ctx, o), named.unseen, named.classes)}
	if until := status.Expired(o, e.Now); until.Text != "" && len(e.workedOn(ctx, o)) == 0 {
		l.seen = append(l.seen, core.ObservedAt(cluster.Place(o, until.Field),
			fmt.Sprintf("its %s, %s, is past", until.Field, until.Text))...)
		l.expired = fmt.Sprintf(" Its %s is past, and perhaps nothing is done for it since, not even to clean up. Set a time to come, or remove "+
			"the finalizer where what it stands for went then.", until.Field)
	}
	if owner != "" {
		l.seen = append(l.seen, core.ObservedAt(cluster.Place(o, "metadata.ownerReferences"),
			"its owner "+owner+" does not exist")...)
	}
	switch {
	case len(failed.Evidence) > 0:
		l.what, l.mend = "the Job or the pods to succeed that were made for it since the deletion", "mend what they fail for"
	case spoken.inTheWay:
		l.what, l.look = spoken.what+" to be deleted first, or to stop using the object", spoken.look
		l.mend = "see what goes with it and delete it"
	case spoken.what != "":
		l.what, l.mend, l.look = spoken.what+" to become ready", "see to that first", spoken.look
	case denied.what != "":
		l.what, l.mend, l.look = denied.what, denied.mend, []core.Step{denied.ask}
	case selector != "":
		l.what = selector + " to stop selecting the namespace"
		l.mend = "change the selector, or the labels of the namespace,"
	case ungranted != "":
		l.what, l.mend = ungranted, "make one"
	case gone != "":
		l.what = gone + ", after which the finalizer seems to be called and which does not exist"
		l.mend = "make sure that it was deleted for good, and remove the finalizer by hand"
	case volume != "":
		l.what = volume + " to be deleted through its driver, and that does not exist any more"
		l.mend = "make sure that nobody needs its data, and remove only this finalizer by hand"
	case twin != "":
		l.what, l.mend = twin+", which does not exist", "make sure that nobody is to make it, and remove the finalizer by hand"
	case len(absent) > 0 && strings.Contains(absent[0].Says, "its metadata.labels["):
		l.what, l.mend = "what a label of the object names and does not exist", "create that again, or take the label off,"
	case first.Kind != "" && first.Resource == "":
		l.what, l.mend = "what the object names, of a kind that the cluster does not serve", "install its definition"
	case named.unmatched:
		l.what, l.mend = "what the object names, in a version of its API that the cluster does not serve", "name it in one that is served, "+
			"or remove the finalizer where what it is to clean up was never made,"
	case len(absent) > 0 && first.Namespace != "" && e.Closed(ctx, first.Namespace):
		l.what = "what the object names and does not exist, and what cannot be created in a namespace that is being deleted"
		l.mend = "clean up by hand, and remove the finalizer"
	case len(absent) > 0:
		l.what, l.mend = "what the object names and does not exist", "create that again"
		if len(absent) == len(through.own) {
			l.what = "what the object it belongs to names and does not exist"
		}
		// What is to be cleaned up may have been deleted with what is of the object's own group, but
		// not with the class of an Ingress. A pack says itself what is lost with what the program
		// needs.
		group := o.GroupVersionKind().Group
		if first.Group() == group && !cluster.BuiltIn(group) && !b.IsKnown && len(absent) > len(through.own) {
			l.mend = "create that again, or remove the finalizer where what it is to clean up was deleted with that,"
		}
	case selects != "":
		l.what = "a " + selects + " that the object selects"
		l.mend = "make one, or remove the finalizer where what it is to clean up went with the last of them,"
	case len(down) > 0:
		l.what, l.mend = "the pods of the object, which do not run", "repair them"
	case len(stopped) > 0:
		l.what, l.mend = "pods of the object, which is stopped and owns none", "start it again for that"
	case all:
		l.what, l.mend = "a ready pod of "+set, "remove the finalizer by hand, since it makes no pods before these are gone,"
	case set != "":
		l.what, l.mend = "a ready pod of "+set, "have one come up"
	case len(named.leaving) > 0 && len(named.leaving) == len(failing):
		l.what = "what the object names, which is being deleted as well and may wait for the object in turn"
		l.mend, l.mutual = "see which of them has to go first", true
		for _, n := range named.leaving[:min(len(named.leaving), phrase.MaxNamed)] {
			l.look = append(l.look, core.At(n.ref, core.Command("kubectl", "describe", "OBJECT").
				Safely("shows what that waits for")))
		}
	case len(failing) > 0:
		l.what, l.mend = "what the object names, which does not work or is being deleted itself", "see to that first"
	}
	for _, seen := range [][]v1alpha1.Observation{failed.Evidence, spoken.seen, denied.seen, selected, grant, after, of,
		untwinned, absent, unselected, down, stopped, unready, failing} {
		if l.what != "" && l.says == "" && len(seen) > 0 {
			l.says = ofTheObject(seen[0].Says)
		}
	}
	return l
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
	jobs []*unstructured.Unstructured) (d core.Downtime) {
	if cluster.BuiltIn(o.GroupVersionKind().Group) || o.GetDeletionTimestamp() == nil || e.Many {
		return d
	}
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
	return d
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
