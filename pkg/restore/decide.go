package restore

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// survey is what the cluster has to do with an archive.
type survey struct {
	*index
	// wanted are the objects that are meant, by their number.
	wanted []bool
	// types are those of the objects, by their number; of those that are not served the zero value.
	types []graph.Type
	// live is what is in the places of the objects, by their number.
	live []live
	// proofs are what is known of objects with another uid in these places, by their number.
	proofs []proof
	// namespaces are those of the objects that are not in the archive.
	namespaces map[string]live
	// outside are the owners that are not in the archive, by the place and the uid in the
	// reference.
	outside map[outsider]outsideOwner
	// volumes are those of the claims, by name.
	volumes map[string]volume
}

// outsider is an owner that the archive does not have.
type outsider struct {
	apiVersion, kind, namespace, name, uid string
}

// outsideOwner is what is known of it.
type outsideOwner struct {
	live
	// unserved says that no API serves its kind, which then cannot have an object.
	unserved bool
}

// fate is what comes of an archived object.
type fate uint8

const (
	ignored  fate = iota // it is not meant
	alive                // it is there, itself or what was created from it
	applied              // it is applied over the object that has its name
	created              // it is created
	byOthers             // a controller makes it
	lost                 // it does not come back
	held                 // it cannot come back now
)

// decider makes a plan of a survey.
type decider struct {
	survey
	opts  Options
	fates []fate
	uids  []string // of what is alive, and of what is applied over
	// whys say why objects are left alone or held, by their number.
	whys  map[int]v1alpha1.Survivor
	waves []int
}

// decide says what is done. It asks nobody, and nothing else decides.
func decide(s survey, opts Options) *Plan {
	d := &decider{
		survey: s, opts: opts, fates: make([]fate, len(s.items)), uids: make([]string, len(s.items)),
		whys: map[int]v1alpha1.Survivor{},
	}
	for _, endpoints := range []bool{false, true} { // which have no owner, and stand before or after their Service
		for _, it := range s.items {
			if (it.kind() == kindEndpoints) == endpoints {
				d.first(it)
			}
		}
	}
	isCreated := func(it *item) bool { return d.fates[it.number] == created }
	for _, it := range slices.Backward(s.items) { // dependents before their owners
		if d.fates[it.number] == byOthers && slices.ContainsFunc(d.dependents(it), isCreated) {
			d.fates[it.number] = created
			delete(d.whys, it.number)
		}
	}
	for d.holdForOwners() { // which can hold the next
	}
	d.waves = wavesOf(s.index, isCreated)
	return d.plan()
}

// leave says that nothing is done to an object.
func (d *decider) leave(it *item, f fate, reason Reason, because string) {
	d.fates[it.number] = f
	d.whys[it.number] = v1alpha1.Survivor{Object: it.ref, Reason: reason, Because: because}
}

// first decides about an object by its place and by what has been decided about its owners.
func (d *decider) first(it *item) {
	n := it.number
	now := d.live[n]
	if now.uid != "" && (now.uid == it.ref.UID || d.isRestored(it) || d.madeAgain(it)) && !now.deleting {
		d.fates[n], d.uids[n] = alive, now.uid // also of what is not meant: others may belong to it
		if d.wanted[n] {
			why := "it exists"
			if now.uid != it.ref.UID && d.isRestored(it) {
				why = "it was restored before"
			} else if now.uid != it.ref.UID {
				why = "its controller has made it again"
			}
			d.leave(it, alive, Exists, why)
		}
		return
	}
	if !d.wanted[n] {
		return
	}
	ns := d.namespaceOfAccount(it)
	switch reason, because := d.impossible(it); {
	case reason != "":
		d.leave(it, held, reason, because)
	case now.uid != "" && (d.opts.Overwrite || ns != nil && d.isRestored(ns)): // which nobody else can have made
		d.fates[n], d.uids[n] = applied, now.uid
	case now.uid != "":
		d.leave(it, lost, NameTaken, "another object has its name; --overwrite applies the archived one over it")
	default:
		switch reason, because := d.leftOut(it, d.opts.All, false, d.comes); reason {
		case "":
			d.fates[n] = created
		case ByController:
			d.leave(it, byOthers, reason, because)
		default:
			d.leave(it, lost, reason, because)
		}
	}
}

// namespaceOfAccount is the archived namespace of the ServiceAccount that a controller makes in each
// new one; nil for another object, or if the archive does not have it.
func (x *index) namespaceOfAccount(it *item) *item {
	if it.kind() != kindAccount || it.ref.Name != "default" {
		return nil
	}
	return x.places[place{kindNamespace, "", it.ref.Namespace}]
}

// madeAgain reports whether the object in the place was made by the same controller for what is now
// in the place of its owner: names that a controller gives are those of what it makes.
func (d *decider) madeAgain(it *item) bool {
	c := it.controller()
	if c == nil {
		return false
	}
	owner := d.byUID[string(c.UID)]
	if owner != nil {
		return owner.number < it.number && d.fates[owner.number] == alive &&
			d.live[it.number].controlledBy(d.uids[owner.number])
	}
	return d.live[it.number].controlledBy(string(c.UID))
}

// comes reports whether an archived object is there or comes back.
func (d *decider) comes(uid string) bool {
	owner := d.byUID[uid]
	return owner != nil && slices.Contains([]fate{alive, applied, created, byOthers}, d.fates[owner.number])
}

// impossible says why an object cannot be restored now; an empty Reason if it can.
func (d *decider) impossible(it *item) (Reason, string) {
	now := d.live[it.number]
	switch {
	case d.types[it.number] == graph.Type{}:
		return NotServed, fmt.Sprintf("no API serves kind %s of %s", it.ref.Kind, it.ref.APIVersion)
	case d.wrongScope(it) != "":
		return NotServed, d.wrongScope(it)
	case now.err != nil:
		return Unreadable, "it cannot be read whether it exists: " + now.err.Error()
	case now.deleting:
		return BeingDeleted, "an object of its name is being deleted; kubectl gc why says what it waits for"
	}
	if reason, because := d.withoutNamespace(it); reason != "" {
		return reason, because
	}
	if it.kind() == kindClaim && now.uid == "" {
		if v := d.volumes[it.facts.volume]; v.taken(it) {
			return VolumeTaken, fmt.Sprintf("its volume %s belongs to another claim, %s", it.facts.volume, v.claim)
		}
	}
	return "", ""
}

// withoutNamespace says what is wrong with the namespace of an object.
func (d *decider) withoutNamespace(it *item) (Reason, string) {
	ns := it.ref.Namespace
	if ns == "" {
		return "", ""
	}
	now := d.namespaces[ns]
	if archived := d.places[place{kindNamespace, "", ns}]; archived != nil {
		now = d.live[archived.number]
		if now.empty() && d.fates[archived.number] == created {
			return "", ""
		}
	}
	switch {
	case now.empty():
		return NamespaceMissing, fmt.Sprintf(
			"there is no namespace %s, and the archive does not have it; create it first", ns)
	case now.deleting:
		return NamespaceDeleted, fmt.Sprintf("namespace %s is being deleted", ns)
	}
	return "", "" // whoever may not read it is told when the object is created
}

// holdForOwners holds what an owner is missing for, and reports whether it has held anything.
func (d *decider) holdForOwners() bool {
	any := false
	for _, it := range d.items {
		if d.fates[it.number] != created && d.fates[it.number] != applied {
			continue
		}
		for _, r := range it.owners {
			_, comesBack, uncertain := d.resolve(it, r)
			switch {
			case uncertain != "":
				d.leave(it, held, OwnerUnknown, uncertain)
			case d.opts.RequireOwners && !comesBack:
				d.leave(it, held, OwnerMissing, ownerName(r)+" does not come back")
			default:
				continue
			}
			any = true
			break
		}
	}
	return any
}

// missing says why a reference of an object to an owner does not come back.
func (d *decider) missing(it *item, r metav1.OwnerReference) string {
	owner := d.byUID[string(r.UID)]
	outside := d.outside[outsiderOf(it, r)]
	if owner == nil && outside.uid != "" && !outside.deleting || owner != nil && d.uids[owner.number] != "" {
		return ownerName(r) + ", whose place another object has; kubectl gc adopt sets the reference"
	}
	return ownerName(r) + ", which does not come back"
}

func ownerName(r metav1.OwnerReference) string { return "owner " + r.Kind + " " + r.Name }

// resolve finds the owner of a reference as it is after the restore. It is false for one that does
// not come back; uncertain says why it is not known.
func (d *decider) resolve(it *item, r metav1.OwnerReference) (ref Reference, ok bool, uncertain string) {
	if owner := d.byUID[string(r.UID)]; owner != nil {
		switch d.fates[owner.number] {
		case created:
			return Reference{OwnerReference: r}, true, ""
		case alive, applied:
			return Reference{r, d.uids[owner.number]}, d.isProven(owner), ""
		}
		if err := d.live[owner.number].err; err != nil {
			return Reference{}, false, ownerName(r) + " cannot be read: " + err.Error()
		}
		return Reference{}, false, ""
	}
	owner := d.outside[outsiderOf(it, r)]
	switch {
	case owner.unserved, owner.empty(), owner.deleting:
		return Reference{}, false, ""
	case owner.err != nil:
		return Reference{}, false, ownerName(r) + " cannot be read: " + owner.err.Error()
	case owner.uid == string(r.UID):
		return Reference{r, owner.uid}, true, ""
	}
	return Reference{}, false, ""
}

func outsiderOf(it *item, r metav1.OwnerReference) outsider {
	return outsider{r.APIVersion, r.Kind, it.ref.Namespace, r.Name, string(r.UID)}
}
