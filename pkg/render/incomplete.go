package render

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkStuck says which objects keep finalizers that nobody removes, because who does so goes
// first, and what to do instead.
func (p Plan) remarkStuck() []remark {
	var about []graph.ID
	causes := map[graph.ID]graph.ID{}
	for _, s := range p.Stuck() {
		if s.Because.Code == plan.ActorDeleted {
			about, causes[s.Object] = append(about, s.Object), s.Because.Cause
		}
	}
	var parts []string
	for cause, ids := range groups(about, func(id graph.ID) (graph.ID, graph.ID) { return causes[id], id }) {
		parts = append(parts, fmt.Sprintf("%s %s stuck once %s is deleted: nobody can remove %s finalizers then",
			fewLocated(p.Graph, ids), phrase.Plural(len(ids), "is", "are"), located(p.Graph, cause),
			phrase.Plural(len(ids), "its", "their")))
	}
	text := strings.Join(parts, "; ")
	if p.Unordered == "" && len(p.Stages()) == 0 {
		text += "; delete what has the finalizers first, and the rest when it is gone: --ordered does so"
	}
	return p.of(about, "%s", text)
}

// remarkAbandoned says whose deletion hangs afterwards, though they are not deleted now.
func (p Plan) remarkAbandoned() []remark {
	var all []remark
	for _, a := range p.Abandoned {
		names := phrase.Words(a.Objects, refLocated)
		if more := a.Count - len(a.Objects); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		all = append(all, remark{fmt.Sprintf("%s %s deleted afterwards: nobody removes the finalizer %s of %s once %s is deleted",
			phrase.Count(a.Count, "object"), phrase.Plural(a.Count, "hangs if it is", "hang if they are"), Escape(a.Finalizer), phrase.And(names), Escape(a.Actor.Located())), a.Objects})
	}
	return all
}

// remarkSilentNodes names the pods that are not gone until the kubelet of their node is heard from.
func (p Plan) remarkSilentNodes() []remark {
	var all []remark
	for _, n := range p.SilentNodes {
		all = append(all, p.about(fmt.Sprintf("%s %s not gone until the kubelet of Node %s confirms that (%s)",
			p.few(n.Pods), phrase.Plural(len(n.Pods), "is", "are"), Escape(n.Name), Escape(n.Because)),
			n.Pods...))
	}
	return all
}

// remarkUnanswered names the webhooks that refuse what the deletion needs.
func (p Plan) remarkUnanswered() []remark {
	var all []remark
	for _, u := range p.Unanswered {
		each := "update"
		what := phrase.Plural(len(u.Objects), "its", "their") + " finalizers and owner references cannot be changed"
		if u.Operation == string(admissionv1.Delete) {
			each, what = "deletion", "the server refuses that"
		}
		all = append(all, p.about(fmt.Sprintf("%s does not answer (%s), and is called for each %s of %s: "+
			"%s until it does, or is deleted", KindName(u.Config), Escape(u.Because), each,
			p.few(u.Objects), what), u.Objects...))
	}
	return all
}

// remarkUndiscovered says which namespaces are not gone while the discovery of a group fails (NS-012).
func (p Plan) remarkUndiscovered() []remark {
	namespaces := p.DeletedOf("", "namespaces")
	var all []remark
	for _, gap := range p.Gaps {
		if gap.Reason != v1alpha1.GapDiscoveryFailed || len(namespaces) == 0 || p.deletesAPI(gap.Group) {
			continue
		}
		all = append(all, p.about(fmt.Sprintf("%s %s not gone until the discovery of %s works: %s",
			p.few(namespaces), phrase.Plural(len(namespaces), "is", "are"), Escape(gap.Group),
			Escape(gap.Message)), namespaces...))
	}
	return all
}

// deletesAPI reports whether an APIService of a group is deleted, whose name ends with the group.
func (p Plan) deletesAPI(group string) bool {
	return slices.ContainsFunc(p.DeletedOf("apiregistration.k8s.io", "apiservices"), func(id graph.ID) bool {
		return strings.HasSuffix(p.Graph.Ref(id).Name, "."+group)
	})
}

// remarkUnserved says which APIServices have no backend afterwards, and what hangs because of that.
func (p Plan) remarkUnserved() []remark {
	var all []remark
	for _, u := range p.Unserved {
		hangs := "a namespace that is deleted afterwards can hang"
		if len(u.Namespaces) > 0 {
			names := phrase.Words(u.Namespaces, refLocated)
			hangs = few(names) + " " + phrase.Plural(len(names), "is", "are") +
				" stuck then, and other namespaces that are deleted can hang"
		}
		service := Escape(u.APIService.Located())
		all = append(
			all, remark{fmt.Sprintf("without %s, %s has no backend, and that blocks every namespace deletion: %s; delete %s too",
				Escape(u.Backend.Located()), service, hangs, service), []graph.Ref{u.APIService}})
	}
	return all
}

// remarkUnhooked says which webhooks have no backend afterwards.
func (p Plan) remarkUnhooked() []remark {
	var all []remark
	for _, u := range p.Unhooked {
		config := KindName(u.Config)
		all = append(all, remark{fmt.Sprintf("nothing answers at %s then, and %s stays: the server refuses each request for "+
			"which it is called; delete %s too", Escape(u.Service.Located()), config, config), []graph.Ref{u.Config}})
	}
	return all
}

// remarkConfirmations says which deletions wait for somebody to confirm them, and with which command.
func (p Plan) remarkConfirmations() []remark {
	var all []remark
	for _, c := range p.Confirmations {
		all = append(all, remark{fmt.Sprintf("%s: %s; once its deletion has begun, this command confirms it: %s",
			KindName(c.Object), Escape(c.Waits), Escape(c.Command())), []graph.Ref{c.Object}})
	}
	return all
}

func (p Plan) remarkUnreadConfirmations() []remark {
	ids := p.UnreadConfirmations
	return p.of(ids, "it is unknown whether somebody has to confirm the deletion of %s: %s", p.few(ids), p.whyUnread(ids))
}

// unconfirmed names the objects whose deletions wait for somebody to confirm them.
func (p Plan) unconfirmed() []string {
	var names []string
	for _, c := range p.Confirmations {
		if name := KindName(c.Object); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// confirmation is what an object waits for because of a finalizer, if that is a confirmation.
func (w Waits) confirmation(of graph.Ref, finalizer string) (string, bool) {
	i := slices.IndexFunc(w.Confirmations, func(c plan.Confirmation) bool {
		return c.Object.UID == of.UID && c.Finalizer == finalizer
	})
	if i < 0 {
		return "", false
	}
	return Escape(w.Confirmations[i].Waits), true
}

// remarkProtected names the objects that the server does not delete, with what it says, and what
// cannot complete because of that.
func (p Plan) remarkProtected() []remark {
	var all []remark
	for message, objects := range groups(p.protected(),
		func(r v1alpha1.Protected) (string, graph.Ref) { return r.Message, r.Object }) {
		all = append(all, remark{fmt.Sprintf("the server refuses the deletion of %s: %s",
			few(kindNames(objects...)), Escape(phrase.Shorten(message))), objects})
	}
	return all
}

// protected are all objects whose deletion the server refuses, but for those that are Denied.
func (p Plan) protected() []v1alpha1.Protected {
	return slices.DeleteFunc(slices.Concat(p.Protected(), p.Refusals), func(r v1alpha1.Protected) bool {
		return slices.ContainsFunc(p.Denied, func(d plan.Denied) bool { return p.Graph.Ref(d.Object) == r.Object })
	})
}

// remarkDenied names the objects whose deletion a policy denies, and what each policy protects.
func (p Plan) remarkDenied() []remark {
	var all []remark
	for _, d := range p.Denied {
		ref := p.Graph.Ref(d.Object)
		all = append(all, remark{Escape(d.Denial(ref.KindName())), []graph.Ref{ref}})
	}
	return all
}

// remarkAsked says what the answers of the server do not tell.
func (p Plan) remarkAsked() []remark {
	if p.Asked == nil {
		return nil
	}
	var parts []string
	if p.Asked.Count < p.Asked.Of {
		parts = append(parts, fmt.Sprintf("the server was asked about %d of the %d deletes that others send", p.Asked.Count,
			p.Asked.Of))
	}
	if n := p.Asked.Unanswered; n > 0 {
		parts = append(parts, fmt.Sprintf("it is unknown whether the server refuses %s: no dry run could tell",
			phrase.Count(n, "delete")))
	}
	if len(p.Asked.Refused) > 0 && !p.Asked.AsControllers {
		parts = append(
			parts, "the server was asked in your name, because you may not impersonate the controllers that delete; a policy may decide otherwise for them")
	}
	if len(parts) == 0 {
		return nil
	}
	return []remark{{text: strings.Join(parts, "; ")}}
}

// remarkOrder warns that a foreground deletion takes the dependents of an object before whoever has
// a finalizer on it has done their work, which may need them: they order the teardown themselves,
// and in the background they could (kubernetes/kubernetes#111725).
func (p Plan) remarkOrder() []remark {
	program, waiting := p.foregroundByLink()
	if p.Policy != plan.Foreground && program == "" {
		return nil
	}
	deleted := graph.SetOf(p.Deleted)
	var ids []graph.ID
	for _, b := range p.Blockers {
		if p.orders(b) && p.takes(b.Object, deleted) && (p.Policy == plan.Foreground || waiting[b.Object]) {
			ids = append(ids, b.Object)
		}
	}
	names := p.few(ids)
	switch {
	case len(ids) == 0:
		return nil
	case p.Policy != plan.Foreground:
		return []remark{p.about(
			fmt.Sprintf(
				"%s deletes in the foreground: the dependents of %s are deleted before the controllers of its finalizers act",
				Escape(program), names), ids...)}
	}
	return []remark{p.about(
		fmt.Sprintf(
			"the foreground deletion deletes the dependents of %s before the controllers of its finalizers act; with --cascade=background these controllers decide the order", names), ids...)}
}

// foregroundByLink returns the first program that deletes in the foreground, and what is deleted so
// then, by itself or the collector; nothing if none does.
func (p Plan) foregroundByLink() (string, map[graph.ID]bool) {
	program, waiting := "", map[graph.ID]bool{}
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete || a.Policy != plan.Foreground {
			continue
		}
		waiting[a.Object] = true
		if f, ok := p.Link(a.Object, a.Because); ok && program == "" {
			program = f.Definition.Deletion.By
		}
	}
	return program, waiting
}

// orders reports whether somebody has work to do before the object goes, or may have.
func (p Plan) orders(b plan.Blocker) bool {
	r := p.Graph.Ref(b.Object)
	return slices.ContainsFunc(b.Finalizers, func(f string) bool {
		k, ok := p.Known.Lookup(f, r.Group(), r.Kind)
		return !ok || k.Polarity == finalizer.Cleanup || k.Polarity == finalizer.OptInDestructive
	})
}

// takes reports whether a dependent of the object goes too.
func (p Plan) takes(id graph.ID, deleted map[graph.ID]bool) bool {
	for e := range p.Graph.Dependents(id) {
		if deleted[e.Dependent] && e.Dependent != id {
			return true
		}
	}
	return false
}
