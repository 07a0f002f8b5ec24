package actor

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Life is whether the actor that removes a finalizer is alive.
type Life string

const (
	// Alive means that there is a sign of life, such as a Lease that is renewed, or pods that are
	// ready.
	Alive Life = "Alive"
	// Dead means that it was found, and does not work: its workload is scaled to 0 or has had no
	// ready pod for ten minutes, or its Lease was last renewed long ago and nothing of it is
	// starting. That it is not found does not make it dead.
	Dead Life = "Dead"
	// Unknown means that it was not found, is starting, or could not be looked for.
	Unknown Life = "Unknown"
)

// Actor is who removes a finalizer of an object.
type Actor struct {
	Finalizer string
	// Known is what the packs say, meaningful if IsKnown. An entry that only the form of the name
	// speaks for does not make it known.
	Known   finalizer.Known
	IsKnown bool
	// Who names it for use in a sentence, empty if nobody can be named.
	Who  string
	Life Life
	// Evidence is what was seen, and where.
	Evidence []v1alpha1.Observation

	// Found says that something of it was seen in the cluster: a workload, a pod, a Lease, a
	// webhook's or an APIService's backend. Without it, Searched names what was looked for, and
	// Outside says that it normally runs outside the cluster, so that not seeing it means nothing.
	// Unread says what could not be looked at.
	Found    bool
	Outside  bool
	Searched []string
	Unread   []string
	// Workloads are its Deployments, StatefulSets and DaemonSets that were found, and Scaled those
	// that are scaled to 0.
	Workloads []*unstructured.Unstructured
	Scaled    []*unstructured.Unstructured
	// Namesake is the only Deployment that is called like a finalizer which no pack knows: a hint. It
	// is nil if there is none, or if there are several.
	Namesake *unstructured.Unstructured
	// Unled are Leases by which none of its pods leads, though they are ready.
	Unled  []Unled
	leases []*unstructured.Unstructured
	// Apart are those that work on other objects, and not on this one. ForThis says that for another
	// object of the kind it may be somebody else: it is told by a label, a node, an object that
	// reports, or by what a workload watches.
	Apart   []*unstructured.Unstructured
	ForThis bool
	// Node is the name of the Node on which it does its work for the object, and Local says that it
	// was looked for there; empty if any will do.
	Node  string
	Local bool
	// Reporter is the object that says what is heard from where it runs, if that is elsewhere; nil if
	// none was seen.
	Reporter *unstructured.Unstructured
	// Unreported names the object that would say it, if that does not exist.
	Unreported string

	// Users are the objects for which it keeps the object, and UsersUnread says why there can be
	// others. Pauses are where the object says that it is to be ignored, and Untaken why it is left
	// to somebody else. Only Judge finds them.
	Users       []User
	UsersUnread error
	Pauses      []Pause
	Untaken     []Untaken
	// Idles says in which words the object tells it to delete nothing; empty if it does not. Only
	// Judge finds it.
	Idles string
}

// Finder finds out whether those who remove finalizers are alive. It reads what it needs once, and
// is safe for concurrent use.
type Finder struct {
	reader *cluster.Reader
	known  *finalizer.Registry
	now    func() time.Time
	rbac   cluster.Asked[string, policy] // by namespace
}

// NewFinder returns a Finder that has read nothing yet.
func NewFinder(reader *cluster.Reader, known *finalizer.Registry) *Finder {
	return &Finder{reader: reader, known: known, now: reader.Now}
}

// Of returns who removes a finalizer of an object, which has to be whole. What could not be read is
// in the evidence; the error is that of a context that ended.
func (f *Finder) Of(ctx context.Context, o *unstructured.Unstructured, name string) (Actor, error) {
	actor := Actor{Finalizer: name, Life: Unknown}
	gvk := o.GroupVersionKind()
	known, ok := f.known.Lookup(name, gvk.Group, gvk.Kind)
	if ok && !known.Fallback {
		actor = f.by(ctx, o, known, name)
	} else {
		f.unknown(ctx, o, &actor)
	}
	f.addUnled(ctx, &actor)
	if ctx.Err() != nil {
		return Actor{}, context.Cause(ctx)
	}
	return actor, nil
}

// by returns the actor of a finalizer of which it is known who that is.
func (f *Finder) by(ctx context.Context, o *unstructured.Unstructured, known finalizer.Known, name string) Actor {
	actor := Actor{Finalizer: name, Life: Unknown, Known: known, IsKnown: true, Who: known.Who(),
		Outside: known.Alive.Outside}
	s := f.searchFor(o, known, name)
	actor.Node = s.node
	s.responsible(ctx)
	actor.take(s.signs)
	return actor
}

// Component returns a component that acts on an object although that has none of its finalizers; false
// if it is not known by what it is seen to be alive.
func (f *Finder) Component(ctx context.Context, o *unstructured.Unstructured, name string) (Actor, bool) {
	known, ok := f.known.Component(name)
	if !ok || !known.Alive.HasWorkloads() {
		return Actor{}, false
	}
	return f.by(ctx, o, known, known.Form()), true
}

// Freeing returns who removes the finalizer in the place of its actor when an object is deleted that
// the actor needs; false if nobody is known to, or to be alive.
func (f *Finder) Freeing(ctx context.Context, o *unstructured.Unstructured, a Actor) (Actor, bool) {
	if a.Known.FreedBy == "" {
		return Actor{}, false
	}
	known := a.Known
	known.Component, known.Actor, known.Alive = known.FreedBy, known.FreedBy, known.Frees
	who := f.by(ctx, o, known, a.Finalizer)
	return who, who.Life == Alive
}

// NotFound says that the actor is known, that everything it could be recognised by was looked for,
// and that nothing of it is in the cluster, where it should be.
func (a Actor) NotFound() bool {
	return a.IsKnown && a.Life == Unknown && !a.Found && !a.Outside && len(a.Searched) > 0 && len(a.Unread) == 0
}

// take takes over what signs come to.
func (a *Actor) take(s signs) {
	s.settle()
	a.Life, a.Found, a.Workloads, a.Scaled = s.life(), s.found, s.workloads, s.scaled
	a.Apart, a.Local, a.leases = s.apart, s.local, s.leases
	a.ForThis = a.Known.Node != nil || a.Known.Alive.ReportedBy != nil || a.Known.Alive.Instance.Label != "" ||
		slices.ContainsFunc(slices.Concat(s.workloads, s.apart),
			func(w *unstructured.Unstructured) bool { return len(scopesOf(w)) > 0 })
	a.Reporter, a.Unreported = s.reporter, s.unreported
	a.Searched, a.Unread = s.searched, s.unread
	a.Evidence = append(a.Evidence, s.evidence()...)
	if a.Outside && !a.Found {
		a.Evidence = slices.DeleteFunc(a.Evidence, func(o v1alpha1.Observation) bool { return o.Says == absent(s.searched) })
		a.note(outside)
	}
}

// outside says of an actor that was not seen where it runs.
const outside = "it may run outside the cluster, so that not seeing it says nothing"

// note adds clauses that say what was seen.
func (a *Actor) note(says ...string) { a.Evidence = append(a.Evidence, said(says...)...) }

// noteAt adds a clause with the field of the object in which it was read.
func (a *Actor) noteAt(field, says string) {
	a.Evidence = append(a.Evidence, v1alpha1.Observation{Says: says, From: field})
}

// Says returns the clauses of the evidence.
func (a Actor) Says() []string {
	return phrase.Words(a.Evidence, func(o v1alpha1.Observation) string { return o.Says })
}

// GapClauses returns what cannot be listed, and why: a clause for each reason and namespace. What
// the user may not list is named without the message of RBAC.
func GapClauses(gaps ...v1alpha1.Gap) []string {
	type class struct {
		forbidden      bool
		where, message string
	}
	var order []class
	types := map[class][]string{}
	for _, gap := range gaps {
		c := class{forbidden: gap.Reason == v1alpha1.GapForbidden}
		if gap.Namespace != "" {
			c.where = " in " + gap.Namespace
		}
		if !c.forbidden {
			c.message = gap.Message
		}
		if types[c] == nil {
			order = append(order, c)
		}
		types[c] = append(types[c], gap.TypeName())
	}
	var all []string
	for _, c := range order {
		what := phrase.And(types[c]) + c.where
		if c.forbidden {
			all = append(all, "you may not list "+what)
			continue
		}
		all = append(all, what+" cannot be listed: "+c.message)
	}
	return all
}

// unlisted is the gap that an error of a list makes.
func unlisted(resource schema.GroupResource, namespace string, err error) v1alpha1.Gap {
	gap := v1alpha1.Gap{Resource: resource.Resource, Group: resource.Group, Namespace: namespace,
		Reason: v1alpha1.GapFailed, Message: message(err)}
	if apierrors.IsForbidden(err) {
		gap.Reason = v1alpha1.GapForbidden
	}
	return gap
}

// message returns what the server answered, without the request, which an error names before it. Of
// a missing permission it leaves out the user and the type, which each would repeat.
func message(err error) string {
	if apierrors.IsForbidden(err) {
		return "you have no permission"
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}
