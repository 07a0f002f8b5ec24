package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/finalizers"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// namespace returns what keeps a namespace because of its spec.finalizers: what is in it, what
// cannot be listed, or the controller. Its conditions are read, and believed only where nothing
// else explains it: they say that all is removed while pods remain (NS-021).
func (e *examiner) namespace(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	o, err := e.Reader.GetObject(ctx, cluster.Namespaces, "", ref.Name)
	if err != nil {
		return core.Found(ref, finalizers.Unread(plan.NamespaceFinalizer, err))
	}
	if o == nil || string(o.GetUID()) != ref.UID {
		return nil
	}
	var findings []core.Finding
	finalizers, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "finalizers")
	for _, name := range finalizers {
		if name != plan.NamespaceFinalizer {
			findings = append(findings, core.Found(ref, e.inSpec(ctx, o, name)...)...)
		}
	}
	if slices.Contains(finalizers, plan.NamespaceFinalizer) {
		findings = append(findings, e.unfinished(ctx, id, o)...)
	}
	return findings
}

// inSpec returns who should take an entry of somebody else's off the spec of a namespace.
func (e *examiner) inSpec(ctx context.Context, o *unstructured.Unstructured, name string) []core.Finding {
	findings := e.finalizers.Actor(ctx, o, name, nil)
	for i := range findings {
		findings[i].Remedy, findings[i].Code = findings[i].Usual(), core.NamespaceSpecFinalizer
		findings[i].Evidence = append(
			core.Observed("it is in spec.finalizers, which only a PUT to the finalize subresource can change"),
			findings[i].Evidence...)
	}
	return findings
}

// unfinished returns why the namespace controller has not let a namespace go.
func (e *examiner) unfinished(ctx context.Context, id graph.ID, o *unstructured.Unstructured) []core.Finding {
	ref := e.Graph.Ref(id)
	var findings []core.Finding
	for _, gap := range e.blocking(ref.Name) {
		findings = append(findings, core.Found(ref, e.unlisted.gap(ctx, gap)...)...)
	}
	// the controller asks for one version of a type, and the snapshot may have seen another
	for _, said := range failures(o) {
		findings = append(findings, core.Found(ref, e.refusal.Conversions(ctx, said)...)...)
	}
	content := e.Links.Content(id)
	pods, rest := e.podsFirst(id, content)
	findings = append(findings, e.inside(ctx, pods)...)
	behindPods := e.inside(ctx, rest)
	if len(pods) > 0 {
		behindPods = core.Later(behindPods)
	}
	findings = append(findings, behindPods...)
	if len(findings) == 0 {
		findings = e.refusal.RefusedInside(ctx, content)
	}
	findings = append(findings, core.Found(ref, e.hiddenContent(o)...)...)
	life, evidence := e.collector.controllerManager(ctx)
	if slices.ContainsFunc(findings, func(f core.Finding) bool { return f.After == 0 }) {
		if c, ok := status.Find(o, "NamespaceContentRemaining"); ok && c.Status == "False" && len(content) > 0 {
			findings[0].Observe("the namespace's condition says %q, and %s left", c.Message, remaining(len(content)))
		}
		if life != actor.Dead {
			return findings
		}
	}
	f := core.Finding{Finalizer: plan.NamespaceFinalizer, Actor: "the namespace controller",
		Moves: e.collector.movement(id), Evidence: append(core.Observed(failures(o)...), evidence...)}
	switch unseen := e.unseenIn(ref.Name); {
	case life == actor.Dead:
		f.Code = core.NamespaceControllerNotRunning
	case len(failures(o)) > 0:
		f.Code = core.NamespaceDeletionFailed
	case len(unseen) > 0:
		types := phrase.And(v1alpha1.TypeNames(unseen))
		f.Code, f.Moves = core.BlockerHidden, nil
		f.Sentence = "the namespace may wait for objects that could not be listed: " + types
		f.Remedy = e.ToSee(unseen) + ", to see whether any are left."
		f.Evidence = append(f.Evidence, core.Observed(actor.GapClauses(unseen...)...)...)
		f.Commands = []core.Step{core.Describe().Safely("shows the conditions, which say what remains")}
	default:
		if refused := e.notFinalized(ctx, ref, o, content); len(refused) > 0 {
			return append(refused, findings...)
		}
		f.Code = core.NamespaceControllerNotActing
		f.Observe("the namespace was deleted %s ago", phrase.Ago(e.Past(id)))
	}
	f.Observe("%s left in it%s", remaining(len(content)), e.asFarAsSeen(ref.Name))
	if types := e.typesOf(content); types != "" {
		f.Commands = append(f.Commands,
			core.FixedCommand("kubectl", "gc", "delete", types, "--all", "-n", ref.Name,
				"--gc=client").Doing("deletes what is in the namespace, and does the garbage collector's part from here"))
	}
	remove := core.Remove(plan.NamespaceFinalizer).
		Doing("removes the namespace; objects that are left in it stay in etcd, out of reach").Risking(finalizer.BreaksCluster)
	if life == actor.Alive || len(content)+len(e.unseenIn(ref.Name)) > 0 {
		remove = remove.Forced() // unfinalize refuses to strand anything, and what somebody is about to do
	}
	// Nobody removes what may hide objects from those who may see them.
	if f.Code != core.BlockerHidden && !slices.ContainsFunc(e.unseenIn(ref.Name),
		func(gap v1alpha1.Gap) bool { return gap.Reason.OfReader() }) {
		f.Commands = append(f.Commands, remove)
	}
	f.Args = []string{"{then}", " If you remove the finalizer by hand, empty the namespace first. Objects that are left in it stay in etcd, out of reach."}
	return append(core.Found(ref, f), findings...)
}

// notFinalized returns who refuses to let an empty namespace go, which is no more than an update of
// the namespace.
func (e *examiner) notFinalized(ctx context.Context, ref graph.Ref, o *unstructured.Unstructured,
	content []graph.ID) []core.Finding {
	if len(content) > 0 {
		return nil
	}
	refused := core.Each(e.refusal.RefusedToFinalize(ctx, o, cluster.ForeignInSpec(o)), func(f *core.Finding) {
		f.Evidence = append(core.Observed("no objects are left in it, and its controller finalizes it"), f.Evidence...)
	})
	return core.Found(ref, refused...)
}

// hiddenContent is for a namespace whose own status says that something is left of the types that
// the user may not list.
func (e *examiner) hiddenContent(o *unstructured.Unstructured) []core.Finding {
	c, told := status.Find(o, "NamespaceContentRemaining")
	if !told || c.Status != "True" {
		return nil
	}
	named := slices.DeleteFunc(e.unseenIn(o.GetName()), func(gap v1alpha1.Gap) bool {
		return !gap.Reason.OfReader() || !strings.Contains(c.Message, gap.Resource+"."+gap.Group+" has ")
	})
	if len(named) == 0 {
		return nil
	}
	types := phrase.And(v1alpha1.TypeNames(named))
	f := core.Finding{Code: core.BlockerHidden, Finalizer: plan.NamespaceFinalizer, Actor: "the namespace controller",
		Sentence: "the namespace waits for objects that you may not list: " + types,
		Evidence: core.ObservedAt(cluster.Place(o, c.Field), e.Quoted(c)),
		Commands: []core.Step{core.Describe().Safely("shows the conditions, which say what remains")}}
	if left, ok := status.Find(o, "NamespaceFinalizersRemaining"); ok && left.Status == "True" {
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(o, left.Field), e.Quoted(left))...)
	}
	f.Evidence = append(f.Evidence, core.Observed(actor.GapClauses(named...)...)...)
	f.Remedy = e.ToSee(named) + ", to see what keeps them. The namespace was not empty when its controller looked last: to finalize " +
		"it would leave them in etcd, out of reach."
	if e.Client.IsStill() {
		f.Sentence = "the namespace waits for objects that were not saved: " + types
	}
	return []core.Finding{f}
}

// asFarAsSeen says of how much of a namespace it is known what is in it.
func (e *examiner) asFarAsSeen(namespace string) string {
	if n := len(e.unseenIn(namespace)); n > 0 {
		return ", but of " + phrase.Count(n, "type") + " that could not be listed it is not known"
	}
	return ""
}

// inside returns what keeps objects that the namespace controller deletes, and what will when they
// are being deleted.
func (e *examiner) inside(ctx context.Context, content []graph.ID) []core.Finding {
	var each [][]core.Finding
	for _, id := range content {
		of := slices.Clone(e.linked.keeps(ctx, id))
		if e.Graph.DeletionTimestamp(id) == 0 {
			of = append(of, core.Behind(e.Graph.Ref(id), e.upcoming(ctx, id))...)
		}
		each = append(each, of)
	}
	return core.TellingFirst(each)
}

// blocking are the gaps that keep the namespace controller from finishing: a group whose discovery
// fails, whatever it holds (NS-012), and namespaced types that cannot be listed. That the user may
// not list one says nothing of the controller.
func (e *examiner) blocking(namespace string) []v1alpha1.Gap {
	return slices.DeleteFunc(e.unseenIn(namespace),
		func(gap v1alpha1.Gap) bool { return gap.Reason.OfReader() })
}

// unseenIn are the gaps in which something can be that is in a namespace.
func (e *examiner) unseenIn(namespace string) []v1alpha1.Gap {
	return e.Graph.HidingIn(e.Gaps, map[string]bool{namespace: true})
}

// podsFirst tells what the namespace controller works on first, the pods, from the rest, on which
// it does not work as long as there are any (NS-013).
func (e *examiner) podsFirst(namespace graph.ID, content []graph.ID) (pods, rest []graph.ID) {
	rule, _ := link.Of(e.Graph.Ref(namespace))
	for _, o := range content {
		if rule.First(e.Graph.Ref(o)) {
			pods = append(pods, o)
		} else {
			rest = append(rest, o)
		}
	}
	return pods, rest
}

// failures are what the conditions of a namespace report.
func failures(o *unstructured.Unstructured) []string {
	var all []string
	for _, c := range status.Conditions(o) {
		switch c.Type {
		case "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure",
			"NamespaceDeletionContentFailure":
			if c.Status == "True" {
				all = append(all, fmt.Sprintf("condition %s: %s", c.Type, c.Message))
			}
		}
	}
	return all
}

func remaining(n int) string {
	if n == 0 {
		return "no objects are"
	}
	return phrase.Count(n, "object") + " " + phrase.Plural(n, "is", "are")
}

// typesOf names the types of some objects as kubectl's arguments do.
func (e *examiner) typesOf(ids []graph.ID) string {
	var types []string
	for _, id := range ids {
		if t := e.Graph.Ref(id).QualifiedResource(); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return strings.Join(types, ",")
}
