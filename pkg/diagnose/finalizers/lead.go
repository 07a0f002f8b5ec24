package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// unfound is for an actor of which nobody knows whether it is there: the cluster is asked who may. Led
// says that this leads to one workload.
func (e *Examiner) unfound(ctx context.Context, b core.Responsible, f core.Finding) (_ core.Finding, led bool) {
	f.Evidence = withLeads(f.Evidence, e.leads(ctx, b.Object).Observations())
	leads := e.leadsTo(ctx, b)
	if !b.IsKnown {
		for _, s := range leads.Elsewhere[:min(len(leads.Elsewhere), phrase.MaxNamed)] {
			f.Evidence = append(f.Evidence, s.Observation(), s.Missed(b.Object))
		}
	}
	first, why := lead(b, leads)
	if f, byAgent := e.byAgent(ctx, b, f); byAgent && (first == nil || len(leads.Accounts) == 0) {
		return f, true
	}
	if f, watched := e.watched(ctx, b, f, leads); watched && (first == nil || !likely(b, first)) {
		return f, true
	}
	if f, without := e.deprived(ctx, b, f); without && (first == nil || !likely(b, first)) {
		return f, true
	}
	itself := ofItself(b)
	show := core.Describe().Safely("shows what its controller says of it")
	switch {
	case itself != "" && (first == nil || first.GetUID() == b.Object.GetUID()):
		f.Remedy, first = itself, nil
	case first != nil:
		f.Remedy = fmt.Sprintf("Look at %s first: %s.", cluster.Located(first), why)
		if placed, in := leads.OnlyPlaced(); placed == first {
			f = e.placed(ctx, b, f, in)
		}
		f.Remedy += b.OnceRunning()
	case b.IsKnown && len(b.Workloads) > 0:
		f.Remedy = phrase.Sentence("check that "+b.Name+" is running, and works on the object") + b.OnceRunning()
		f.Commands = append(f.Commands, core.At(e.Ref(b.Workloads[0]), core.Describe()).Safely("shows whether it runs, and what it watches"))
	case b.IsKnown && !b.NotFound():
		f.Remedy = phrase.Sentence("check that "+b.Name+" is running; its state is not visible through the API") +
			b.OnceRunning()
	}
	if s, who := unwatched(b, first, leads); who != "" {
		says := s.Observation()
		f.Evidence = append([]v1alpha1.Observation{says, s.Missed(b.Object)}, f.Evidence...)
		f.Remedy = cmp.Or(f.Remedy, f.UsualOf(core.FinalizerActorUnknown)) + " " + who + ": have one watch it, or find out which does."
		if runs(b, first) {
			f.Sentence = cluster.Located(first) + mostLikely + ", and" + strings.TrimPrefix(says.Says, cluster.Located(first))
			f.Commands = append(f.Commands, labelled(b, s)...)
		}
	}
	if first == nil {
		f.Commands = append(f.Commands, show)
	} else {
		d := e.downLead(ctx, b, first)
		f.Evidence = append(f.Evidence, d.Evidence...)
		switch {
		case first == b.Namesake: // a name is too little to change anything before the object is looked at
			f.Commands = slices.Concat(f.Commands, []core.Step{show}, d.Steps)
			if actor.ReadWorkload(first).Life == actor.Alive {
				f.Commands = append(f.Commands, e.log(first)...)
			}
		case !likely(b, first): // it may have been stopped for what it does to other objects
			f.Commands = append(f.Commands, show)
		default:
			f.Commands = slices.Concat(f.Commands, d.Steps, []core.Step{show})
			f = e.leadAtNode(ctx, b, first, f)
			if state := actor.ReadWorkload(first); state.Scaled && first.GetDeletionTimestamp() == nil {
				f.Sentence = unsure(b) + "; " + state.Says
			}
		}
	}
	// Where the one is down, another's log says nothing of it.
	if first == nil || actor.ReadWorkload(first).Life == actor.Alive {
		for _, w := range leads.Running(2, first) {
			f.Commands = append(f.Commands, e.log(w)...)
		}
	}
	return f, first != nil
}

// placed completes a finding about the workload that is likeliest to remove a finalizer and may write
// such objects in another namespace only.
func (e *Examiner) placed(ctx context.Context, b core.Responsible, f core.Finding, in string) core.Finding {
	f.Sentence = unsure(b) + "; it may write such objects in namespace " + in + ", and not in that of the object"
	if e.Closed(ctx, b.Object.GetNamespace()) {
		f.Remedy += " To let it work there, grant it the same permissions with a ClusterRoleBinding: no RoleBinding can be created in " +
			"a namespace that is being deleted."
		return e.inClosing(ctx, b, f)
	}
	f.Remedy += " To let it work there, grant it the same permissions there with a RoleBinding."
	return f
}

// deprived is for an object of Kubernetes' own, which many may write: the one workload that is called
// like its finalizer may not, and may have lost the right, or never had it
// (https://github.com/intel/trusted-certificate-issuer/issues/59).
func (e *Examiner) deprived(ctx context.Context, b core.Responsible, f core.Finding) (core.Finding, bool) {
	w := b.Namesake
	if w == nil || b.IsKnown || !cluster.BuiltIn(b.Object.GroupVersionKind().Group) ||
		actor.ReadWorkload(w).Life != actor.Alive {
		return f, false
	}
	may := e.Actors.Forbidden(ctx, b.Object, actor.Actor{Life: actor.Alive, Workloads: []*unstructured.Unstructured{w}})
	if !may.Concluded {
		return f, false
	}
	r, _ := e.Catalog.Kind(b.Object.GetAPIVersion(), b.Object.GetKind())
	what := r.GroupResource().String()
	f.Sentence = fmt.Sprintf("%s; by its name it may be %s, which may neither patch nor update %s there", unsure(b),
		cluster.Located(w), what)
	f.Remedy = fmt.Sprintf("Look at %s first: its name is like the finalizer's, and it may not remove the finalizer. If it should, let "+
		"its ServiceAccount update and patch %s.", cluster.Located(w), what)
	f.Commands = slices.Concat([]core.Step{core.Describe().Safely("shows what its controller says of it"),
		e.may(b, w, "patch", what)}, e.log(w), f.Commands)
	return f, true
}

// may asks the server whether a workload has a right where an object is.
func (e *Examiner) may(b core.Responsible, w *unstructured.Unstructured, verb, what string) core.Step {
	args := []string{"kubectl", "auth", "can-i", verb, what, "--as=" + actor.Account(w).User()}
	if in := b.Object.GetNamespace(); in != "" {
		args = append(args, "-n", in)
	}
	return core.FixedCommand(args...).Safely("asks the server whether it may")
}

// unwatched is what the workload that is likeliest to remove a finalizer which no pack knows
// watches, or the first of those that may, if that leaves the object out, and who that is, in a
// clause; empty if not.
func unwatched(b core.Responsible, first *unstructured.Unstructured, leads actor.Permissions) (
	s actor.Scope, who string) {
	works, who := actor.Actor{Life: actor.Alive, Workloads: leads.Workloads()}, "None of the workloads that may write the object watches it"
	if first != nil {
		works.Workloads, who = []*unstructured.Unstructured{first}, "It does not watch the object"
	}
	scopes := works.NotWatching(b.Object)
	if b.IsKnown || len(scopes) == 0 || len(scopes) < len(works.Workloads) {
		return s, ""
	}
	return scopes[0], who
}

// lead is the one workload that is likeliest to remove a finalizer, by RBAC or by its name, and why;
// nil if none stands out.
func lead(b core.Responsible, leads actor.Permissions) (first *unstructured.Unstructured, why string) {
	group, kind := b.Object.GroupVersionKind().Group, b.Object.GetKind()
	first = leads.Only()
	itself := slices.ContainsFunc(leads.Elsewhere, func(s actor.Scope) bool { return s.Workload == first })
	if first != nil && len(leads.Elsewhere) > 0 && !itself {
		return first, "of the workloads that RBAC lets write objects of this type, it is the only one that is not set to watch others"
	}
	if first != nil && (ofItself(b) == "" || b.IsKnown) {
		return first, "RBAC lets no other workload write objects of this type, but for administrators and Kubernetes itself"
	}
	if b.IsKnown {
		return nil, ""
	}
	if first = leads.Like(b.Finalizer, kind); first != nil {
		return first, "of the workloads that RBAC lets write objects of this type, it is the one that is called like the finalizer"
	}
	if first = leads.Controls(); first != nil && !cluster.BuiltIn(group) && strings.Contains(b.Finalizer, group) {
		return first, "the finalizer has the group of the object, and but for administrators RBAC lets no other workload write its status"
	}
	if first = namedAt(b.Object, leads.Workloads()); first != nil {
		return first, "of the workloads that RBAC lets write objects of this type, it is the one that the object names"
	}
	if first, in := leads.OnlyPlaced(); first != nil && !cluster.BuiltIn(group) {
		return first, "it may write such objects in namespace " + in + ", as no other workload may in any, and not in that of the object"
	}
	if first = leads.EveryLike(b.Finalizer+"."+group, kind); first != nil {
		return first, "of the workloads that may write everything, it is the one that is called like the finalizer, and RBAC lets no other " +
			"write objects of this type"
	}
	if len(leads.Accounts) == 0 && b.Namesake != nil {
		return b.Namesake, "it is called like the finalizer"
	}
	return nil, ""
}

// otherwiseCalled reports whether an actor of which no pack knows a name, since there is one for
// each cloud, may be the one workload that RBAC lets write objects of the type, and that runs: then
// it is not proven to be missing.
func (e *Examiner) otherwiseCalled(ctx context.Context, b core.Responsible) bool {
	if alive := b.Known.Alive; alive.Follow == "" || len(alive.Deployments)+len(alive.StatefulSets)+len(alive.DaemonSets)+len(alive.Labels) > 0 {
		return false
	}
	only := e.leads(ctx, b.Object).Watching(b.Object).Only()
	return only != nil && actor.ReadWorkload(only).Life == actor.Alive
}

// namedAt is the one of some workloads that a label of an object names, or in which its name ends, as
// that of a replica does in the name of the pool whose pods work on it; nil if there is none.
func namedAt(o *unstructured.Unstructured, workloads []*unstructured.Unstructured) (one *unstructured.Unstructured) {
	for _, w := range workloads {
		named := strings.HasSuffix(o.GetName(), "-"+w.GetName())
		for _, value := range o.GetLabels() {
			named = named || value == w.GetName()
		}
		if named && one != nil {
			return nil
		}
		if named {
			one = w
		}
	}
	return one
}

// likely reports whether a workload that may write an object is its controller, and so may be
// started for its sake. That one is the only one that may write a Namespace or a ConfigMap says
// little: it has to be called like the finalizer as well.
func likely(b core.Responsible, w *unstructured.Unstructured) bool {
	return b.IsKnown || !cluster.BuiltIn(b.Object.GroupVersionKind().Group) ||
		actor.CalledLike(w, b.Finalizer, b.Object.GetKind()) > 0
}

// ofItself is the remedy for a workload that is called like its finalizer, which its own pods may have
// to remove; empty if it is not.
func ofItself(b core.Responsible) string {
	w := b.Object
	if w.GroupVersionKind().Group != "apps" || w.GetDeletionTimestamp() == nil || b.IsKnown ||
		actor.CalledLike(w, b.Finalizer, w.GetKind()) == 0 {
		return ""
	}
	if actor.ReadWorkload(w).Life == actor.Alive {
		return "By its name and images, it may be its own pods that remove the finalizer: look at their log first."
	}
	return "By its name and images, it may be its own pods that remove the finalizer. None is ready, and changes of a workload that is " +
		"being deleted have no effect: if none becomes ready and no other controller removes it, remove it by hand."
}

// withLeads adds to what was seen who may remove the finalizer. A workload that was named by its name
// already is told once.
func withLeads(seen, leads []v1alpha1.Observation) []v1alpha1.Observation {
	leads = slices.Clone(leads)
	seen = slices.DeleteFunc(slices.Clone(seen), func(o v1alpha1.Observation) bool {
		state, named := strings.CutPrefix(o.Says, actor.ByItsName)
		words := strings.Fields(state)
		if !named || len(words) < 2 {
			return false
		}
		i := slices.IndexFunc(leads, func(l v1alpha1.Observation) bool {
			return strings.Contains(l.Says, words[0]+" "+words[1]+" uses it")
		})
		if i >= 0 {
			leads[i].Says += "; by its name the finalizer may be its own"
		}
		return i >= 0
	})
	return append(seen, leads...)
}

// leads are who may remove the finalizers of an object, by RBAC.
func (e *Examiner) leads(ctx context.Context, o *unstructured.Unstructured) actor.Permissions {
	leads, _ := e.Actors.Permitted(ctx, o)
	return leads
}

// leadsTo are the workloads that watch an object and may remove a finalizer. Whoever is known to remove
// another finalizer of it may write the object for the sake of that, and is left out. It stays if it
// is called like this finalizer, or if this has no domain, that of the object or that of the other.
func (e *Examiner) leadsTo(ctx context.Context, b core.Responsible) actor.Permissions {
	leads, o := e.leads(ctx, b.Object).Watching(b.Object), b.Object
	domain, _, named := strings.Cut(b.Finalizer, "/")
	if b.IsKnown || !named || cluster.OfOneDomain(domain, o.GroupVersionKind().Group) {
		return leads
	}
	for _, other := range o.GetFinalizers() {
		if of, _, _ := strings.Cut(other, "/"); other == b.Finalizer || cluster.OfOneDomain(domain, of) {
			continue
		}
		if a, err := e.Actors.Of(ctx, o, other); err == nil && a.IsKnown {
			leads = leads.Without(func(w *unstructured.Unstructured) bool {
				return actor.CalledLike(w, b.Finalizer, o.GetKind()) == 0 &&
					slices.ContainsFunc(a.Workloads, func(own *unstructured.Unstructured) bool { return own.GetUID() == w.GetUID() })
			})
		}
	}
	return leads
}

// downLead looks into the one workload that RBAC lets remove a finalizer, as if it were the actor.
func (e *Examiner) downLead(ctx context.Context, b core.Responsible, only *unstructured.Unstructured) core.Downtime {
	if only.GetKind() == "Pod" {
		return core.Downtime{}
	}
	b.Name, b.Workloads, b.Scaled = cluster.Located(only), []*unstructured.Unstructured{only}, nil
	if actor.ReadWorkload(only).Scaled {
		b.Scaled = b.Workloads
	}
	return e.DownWorkloads(ctx, b)
}

// log shows what a workload says that may be the one; nothing of one that is to have no pods.
func (e *Examiner) log(w *unstructured.Unstructured) []core.Step {
	if actor.ReadWorkload(w).Scaled {
		return nil
	}
	show := core.At(e.Ref(w), core.Command("kubectl", "logs", "OBJECT"))
	return []core.Step{show.Safely("shows whether it works on the object")}
}
