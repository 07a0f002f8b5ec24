package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Details are what a plan cannot tell from metadata: somebody who can ask the server finds them out
// and passes them to Learn.
type Details struct {
	Facts
	// Pods and StatefulSets are those of the cascade that were read.
	Pods         map[graph.ID]Pod
	StatefulSets map[graph.ID]StatefulSet
	// MadeAgain says whether the Deployment of a ReplicaSet of RolledBy makes it again, of those of
	// which that is known.
	MadeAgain map[graph.ID]bool
	// Labels are those of roots, as far as they were read.
	Labels map[graph.ID]map[string]string
	// GracePeriodSeconds, if not nil, goes with the requested deletes, and with no others (GC-056).
	// Propagated says that it then shortens that of their dependents.
	GracePeriodSeconds *int64
	Propagated         bool
}

// Facts are those of the Details that change nothing of what else a plan says.
type Facts struct {
	// Unread are the pods, StatefulSets and namespaces of the cascade that were not read.
	Unread []graph.ID
	// Disks are the volumes whose data are destroyed because they, or their PVCs, are deleted, and
	// UnreadDisks the PVCs and volumes of which that is not known. KeptDisks are those whose reclaim
	// policy keeps the data.
	Disks       []v1alpha1.Disk
	KeptDisks   []v1alpha1.Disk
	UnreadDisks []graph.ID
	// DNSNames are those for which deleted objects ask, and UnreadNaming are those of Naming of which
	// they are not known. Outside are things outside the cluster for which the deleted objects stand.
	DNSNames     []string
	UnreadNaming []graph.ID
	Outside      []v1alpha1.Outside
	// UnreadOutside are objects that stand for something outside the cluster and could not be read.
	UnreadOutside []graph.ID
	// Idle are finalizers that the deletion waits for and that nobody removes for now.
	Idle []v1alpha1.IdleActor
	// Unexamined is of how many finalizers of objects it was not looked at whether those who remove
	// them run, because they are too many or cannot be read.
	Unexamined int
	// Unused are objects that the deletion waits for, and of which it was seen that nothing that stays
	// uses them.
	Unused []graph.ID
	// InUse are finalizers that keep objects which others use, and CollectorStopped says by what
	// it is known that the garbage collector, which deletes some objects, does not run, as clauses.
	// NamespacesStopped is that of the controller of the namespaces that are deleted.
	InUse                               []InUse
	CollectorStopped, NamespacesStopped []string
	// Abandoned are finalizers of objects that are not deleted, which nobody removes any more.
	Abandoned []v1alpha1.Abandoned
	// Unserved are APIServices that are not deleted although what answers them is. Then the discovery
	// of their groups fails, and the namespace controller finishes no namespace (NS-012).
	Unserved []v1alpha1.Unserved
	// Unhooked are webhooks that are not deleted although what answers them is.
	Unhooked []Unhooked
	// SilentNodes are nodes on which pods have to stop, and whose kubelet is not heard from.
	SilentNodes []SilentNode
	// Unanswered are webhooks that refuse what the plan needs.
	Unanswered []Unanswered
	// Spared are objects whose finalizers' actors leave what they manage outside the cluster, and
	// UnreadSpared those of which that is not known.
	Spared       []v1alpha1.Spared
	UnreadSpared []graph.ID
	// Decided are the fields that tell the actors of finalizers what to do with what they manage
	// outside the cluster.
	Decided []v1alpha1.Decided
	// Confirmations are those of objects whose deletion waits for one, and UnreadConfirmations the
	// objects of which it is not known whether it does.
	Confirmations       []Confirmation
	UnreadConfirmations []graph.ID
	// TooMany are those of the Unread, UnreadSpared and UnreadConfirmations that were not asked for.
	TooMany []graph.ID
	// Forbidden are the writes of this command that the server is known to refuse.
	Forbidden []Forbidden
	// Denied are those of its deletes that a policy of kubectl gc protect denies.
	Denied []Denied
}

// Denied is a delete that a policy denies.
type Denied struct {
	Object graph.ID
	// Policy is its name, and Protects names the object that it protects; Itself says that this is
	// the object to be deleted.
	Policy, Protects string
	Itself           bool
}

// Same returns whether another webhook of the same configuration refuses the same.
func (u Unanswered) Same(other Unanswered) bool {
	return u.Config == other.Config && u.Operation == other.Operation && slices.Equal(u.Objects, other.Objects)
}

// SilentNode is a node whose kubelet is not heard from: its pods are not gone until it is.
type SilentNode struct {
	Name string
	// Because says what was seen, as a clause, and Pods are those of the plan on it, sorted.
	Because string
	Pods    []graph.ID
}

// Unanswered is a configuration with a webhook that does not answer, without whose answer the server
// refuses each UPDATE of some objects, so that nobody can remove their finalizers or change their
// owner references, or each DELETE.
type Unanswered struct {
	Config graph.Ref
	// Because says what is missing, as a clause.
	Because string
	// Operation is UPDATE or DELETE, and Objects are those for which the plan needs it, sorted.
	Operation string
	Objects   []graph.ID
}

// Unhooked is a configuration with a webhook without whose answer the server refuses requests, and the
// Service where nothing answers then.
type Unhooked struct{ Config, Service graph.Ref }

// Denial says that the deletion of an object is denied, and why.
func (d Denied) Denial(object string) string {
	if d.Itself {
		return fmt.Sprintf("the deletion of %s is denied: policy %s protects it", object, d.Policy)
	}
	return fmt.Sprintf("the deletion of %s is denied: it would delete %s, which policy %s protects", object, d.Protects, d.Policy)
}

// Forbidden is a write that the user may not do.
type Forbidden struct {
	Object graph.ID
	// Verb, Resource and Subresource are what the server asks of its authorizer: delete,
	// configmaps.
	Verb, Resource, Subresource string
	// Reason is what the authorizer said, often nothing.
	Reason string
}

// Learn adds the facts to the plan. It changes nothing of what is done, only what is known of it.
func (p *Plan) Learn(f Details) {
	p.Facts = f.Facts
	for _, ids := range []*[]graph.ID{&p.Unread, &p.UnreadDisks, &p.UnreadSpared, &p.UnreadConfirmations,
		&p.UnreadNaming, &p.UnreadOutside} {
		*ids = slices.Sorted(slices.Values(*ids))
	}
	p.learnPods(f)
	p.learnNodes()
	p.learnRecreated(f.Pods, f.MadeAgain)
	p.learnAddons(f.Labels)
	p.Freed = p.frees(f.Pods)
	p.Outside = slices.Concat(disksOutside(p.Disks, false), disksOutside(p.KeptDisks, true), p.Outside)
	p.learnPVCs(f.StatefulSets)
}

// DeletedOf returns the objects of one type that are gone in the end, sorted.
func (p *Plan) DeletedOf(group, resource string) []graph.ID {
	var ids []graph.ID
	for _, id := range p.Deleted {
		if t, _ := p.Graph.Type(id); t.Resource == resource && t.Group == group {
			ids = append(ids, id)
		}
	}
	return ids
}

// set is a set of nodes.
type set []bool

func newSet(g *graph.Graph, ids ...[]graph.ID) set {
	s := make(set, g.Len())
	for _, list := range ids {
		for _, id := range list {
			s[id] = true
		}
	}
	return s
}

// Confirmation is an object whose deletion does not go on until somebody confirms it.
type Confirmation struct {
	Object    graph.Ref
	Finalizer string
	// Waits says who waits for it, and why, as a clause.
	Waits string
	// Annotation is the key of the annotation that confirms it. Its value is the time, which is not
	// before the deletion.
	Annotation string
}

// Command is the command that confirms the deletion once it has begun.
func (c Confirmation) Command() string {
	words := append([]string{"kubectl", "annotate"}, c.Object.Arguments()...)
	return phrase.Command(append(words, c.Annotation+"=")...) + `"$(date -u +%Y-%m-%dT%H:%M:%SZ)" --overwrite`
}

// InUse is a finalizer that a deletion waits for, and that keeps the object while others use it.
type InUse struct {
	Object    graph.ID
	Finalizer string
	// Users are objects that use the object and are not deleted with it.
	Users []graph.Ref
}

// PVCs returns the PersistentVolumeClaims that are deleted, sorted: with each a disk can be
// destroyed.
func (p *Plan) PVCs() []graph.ID { return p.DeletedOf("", "persistentvolumeclaims") }

// Volumes returns the PersistentVolumes that are deleted, sorted.
func (p *Plan) Volumes() []graph.ID { return p.DeletedOf("", "persistentvolumes") }

// Precious returns the name by which a person agrees to a plan that deletes a namespace, a
// CustomResourceDefinition or data, or may do so; empty where a yes is enough. Objects that were
// named come first, then PVCs and volumes.
func (p *Plan) Precious() string {
	going := p.Released()
	all := p.Graph.Refs(slices.Concat(p.Roots, going.PVCs(), going.Volumes(), going.Deleted))
	return Precious(all, len(p.Disks)+len(p.UnreadDisks) > 0)
}

// Precious returns the name of the first namespace or CustomResourceDefinition among objects, or if
// data are lost with them that of the first; empty if there is neither.
func Precious(all []graph.Ref, data bool) string {
	for _, ref := range all {
		switch ref.Group() + "/" + ref.Resource {
		case "/namespaces", "apiextensions.k8s.io/customresourcedefinitions":
			return ref.Name
		}
	}
	if data && len(all) > 0 {
		return all[0].Name
	}
	return ""
}

// Doubtful are the links because of which alone objects are deleted, if they are: it is not known
// what the account may do as which the program acts, or that account is deleted too, and the
// program deletes nothing once it is gone.
func (p *Plan) Doubtful() []link.Found {
	var all []link.Found
	ends := map[graph.ID]bool{}
	for _, id := range p.Deleted {
		for _, f := range p.options.Links.Above(id) {
			account, ok := accountOf(p.Graph, &f)
			loses := ok && p.end.is(account, deleting|gone) || !ok && f.Account != "" && p.namespaceGoes(f.Source)
			if f.Deletes() && p.end.is(f.Owner(), deleting|gone) && (f.Unsure != "" || loses) {
				all, ends[id] = append(all, f), true
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	for _, id := range p.Sparing(ends) {
		delete(ends, id)
	}
	return slices.DeleteFunc(all, func(f link.Found) bool { return !ends[f.Dependent()] })
}

// namespaceGoes reports whether the namespace of an object goes, and with it what could not be
// listed there.
func (p *Plan) namespaceGoes(id graph.ID) bool {
	namespace, ok := p.Graph.Find("", "namespaces", "", p.Graph.Namespace(id))
	return ok && p.end.is(namespace, deleting|gone)
}
