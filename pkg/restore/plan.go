package restore

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Options say what is restored, and how.
type Options struct {
	// Names are the objects that are meant, each with what it owns or contains; empty for all of
	// the archive.
	Names []Name
	// Namespace restricts it to one namespace; empty for any.
	Namespace string
	// All also restores what controllers make again by themselves, and what has run to its end.
	All bool
	// Overwrite applies the archived object over one that has its name.
	Overwrite bool
	// Status writes the archived status too.
	Status bool
	// RequireOwners holds objects of which an owner does not come back; otherwise they are restored
	// without that reference.
	RequireOwners bool
	// OtherCluster allows an archive of another cluster, or of one that is not known.
	OtherCluster bool
}

// Verb says what a step does.
type Verb string

// The verbs.
const (
	// Create creates the object.
	Create Verb = "create"
	// Apply applies it over the object that has its name.
	Apply Verb = "apply"
	// Refer adds references to owners that have another uid now, to an object that is there.
	Refer Verb = "refer"
	// SetStatus writes the archived status of an object that was restored before and has none yet.
	SetStatus Verb = "status"
	// Rebind gives the claim of a PersistentVolume its new uid.
	Rebind Verb = "rebind"
)

// Step is one write, with what follows from it for the same object.
type Step struct {
	Verb Verb
	// Object is as archived for Create, with the uid that it had; otherwise it is the live object.
	Object graph.Ref
	Type   graph.Type
	// References are those that the object gets.
	References []Reference
	// Late are those that it gets after it was created, since an owner is created later: the owners
	// own each other.
	Late []Reference
	// Notes say what does not come back as it was.
	Notes []string

	item *item
	// maker is the controller that makes the object as well, empty for none: of two the later one
	// stays out, and of too many the controller deletes one.
	maker string
	// unbound says of a claim that it gets another volume.
	unbound bool
	// claim is the claim that a Rebind is for, with its archived uid; claimUID is that of the
	// restored one, empty if it is created too.
	claim    *item
	claimUID string
	// wave is when a Create is due; those of one wave follow the archive's order.
	wave int
}

// Reference is an ownerReference of a restored object.
type Reference struct {
	// OwnerReference is as archived, with the uid that the owner had.
	metav1.OwnerReference
	// NewUID is that of the owner now; empty for an owner that is created too.
	NewUID string
}

// Reason says in a word why an object is left alone or held.
type Reason = string

// The reasons for leaving an archived object out. The first group is as it should be, of the second
// (Held) the object could not be restored now.
const (
	Exists         Reason = "Exists"         // it is there, it or what was created from it
	NameTaken      Reason = "NameTaken"      // another object has its name
	ByController   Reason = "ByController"   // a controller makes it again
	Finished       Reason = "Finished"       // it has run to its end, and would run again
	StorageDeleted Reason = "StorageDeleted" // a volume whose storage was deleted with it
	IsEvent        Reason = "IsEvent"        // an event tells what happened at the time

	BeingDeleted     Reason = "BeingDeleted"     // an object of its name is being deleted
	NamespaceMissing Reason = "NamespaceMissing" // neither the cluster nor the archive has its namespace
	NamespaceDeleted Reason = "NamespaceDeleted" // its namespace is being deleted
	NotServed        Reason = "NotServed"        // no API serves its kind in its version
	OwnerMissing     Reason = "OwnerMissing"     // an owner does not come back, and --require-owners was given
	OwnerUnknown     Reason = "OwnerUnknown"     // an owner cannot be read
	Unreadable       Reason = "Unreadable"       // its place cannot be read
	VolumeTaken      Reason = "VolumeTaken"      // its volume belongs to another claim
)

// Plan is what a restore does.
type Plan struct {
	// File is the archive, and Head the plan that it was written for.
	File string
	Head *v1alpha1.Plan
	// Steps are in the order in which they are begun. A step waits for its owners.
	Steps []Step
	// Left are objects that are not restored on purpose, and Held those that cannot be restored
	// now.
	Left, Held []v1alpha1.Survivor
	// Forbidden are rights that the user needs and does not have. If there are any, nothing is
	// done.
	Forbidden []change.MissingRight

	opts  Options
	index *index
	types []graph.Type
	// created is the archive's companion, and copies are objects that are to be noted there: an
	// earlier restore that was killed has created them, by the archived uid.
	created *archive.Created
	copies  map[string]string
}

// itemOf is the archived object that had a uid; nil if the archive has none.
func (p *Plan) itemOf(uid string) *item { return p.index.byUID[uid] }

// Printed returns the plan as it is printed for programs.
func (p *Plan) Printed() *v1alpha1.RestorePlan {
	out := &v1alpha1.RestorePlan{
		TypeMeta: v1alpha1.TypeMeta("RestorePlan"), Archive: p.File, Actions: []v1alpha1.RestoreAction{},
		Left: append([]v1alpha1.Survivor{}, p.Left...), Held: append([]v1alpha1.Survivor{}, p.Held...),
		Forbidden: []v1alpha1.Forbidden{}, Complete: len(p.Held) == 0,
	}
	for i := range p.Steps {
		out.Actions = append(out.Actions, p.Steps[i].printed())
	}
	for _, f := range p.Forbidden {
		out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{
			Object: f.Type.Ref(f.Namespace, f.Name, ""), Verb: f.Verb, Reason: f.Reason,
		})
	}
	return out
}

// Printed returns what came of a plan as it is printed for programs.
func (r *Result) Printed(p *Plan) *v1alpha1.RestoreResult {
	out := &v1alpha1.RestoreResult{
		TypeMeta: v1alpha1.TypeMeta("RestoreResult"), Done: []v1alpha1.RestoreAction{}, Failed: []v1alpha1.RestoreFailed{},
		Left: append([]v1alpha1.Survivor{}, p.Left...), Held: append([]v1alpha1.Survivor{}, p.Held...),
		Complete: len(p.Held) == 0 && len(r.Failed) == 0,
	}
	for _, d := range r.Done {
		a := d.Step.printed()
		a.UID = d.UID
		a.Notes = slices.Concat(a.Notes, d.Notes)
		out.Done = append(out.Done, a)
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.RestoreFailed{Action: f.Step.printed(), Error: f.Err.Error()})
	}
	for _, s := range r.Unasked {
		out.Unasked = append(out.Unasked, s.printed())
	}
	return out
}

func (s *Step) printed() v1alpha1.RestoreAction {
	a := v1alpha1.RestoreAction{Verb: string(s.Verb), Object: s.Object,
		Owners: []v1alpha1.RestoredOwner{}, Notes: s.Notes}
	for _, r := range slices.Concat(s.References, s.Late) {
		a.Owners = append(a.Owners, v1alpha1.RestoredOwner{Kind: r.Kind, Name: r.Name, ArchivedUID: string(r.UID),
			UID: r.NewUID})
	}
	return a
}
