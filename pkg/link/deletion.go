package link

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Deletion says how a deletion travels along a link.
type Deletion struct {
	// Of is what is deleted with the other: Of the End, the end goes with the source.
	Of Direction `json:"of"`
	// By is the program that deletes it, as "Crossplane". It is empty where the garbage collector
	// does, because ownerReferences say the same.
	By string `json:"by,omitempty"`
	// Finalizer is the one by which the program sees the deletion, "*" at its end for any that
	// begins so. Without it on the object that is deleted nothing travels. Empty if the program
	// needs none.
	Finalizer string `json:"finalizer,omitempty"`
	// Policy is how the program deletes; PolicyField, in the source, says otherwise where it is not
	// empty: Background, Foreground or Orphan.
	Policy      Policy `json:"policy,omitempty"`
	PolicyField Path   `json:"policyField,omitzero"`
	// Foreground is what a deletion in the foreground sets PolicyField to, before anything else,
	// where the source has the field. Empty if it leaves it alone.
	Foreground string `json:"foreground,omitempty"`
	// Waits reports whether the program waits until they are gone before it removes the finalizer.
	Waits Waits `json:"waits,omitempty"`
	// Force says that the program deletes with a grace period of 0.
	Force bool `json:"force,omitempty"`
	// Within is how long after the other side is gone a program without a Finalizer deletes at the
	// latest: what is there then was left alone. Zero if that is not known.
	Within metav1.Duration `json:"within,omitzero"`
	// Turn orders the links of an object: the program deletes what is of the first, waits as it
	// does, and goes on to the next.
	Turn int `json:"turn,omitempty"`
	// Waves is the key of an annotation of an end whose value is a number, 0 without it. The program
	// deletes the ends with the greatest first, waits as it does, and goes on to the next. It deletes
	// nothing while an end that it sees is being deleted, though that be one that it keeps.
	Waves string `json:"waves,omitempty"`
	// Bound is the path in an end to the reference of its source. If that names another object the
	// program refuses to act, and the source is never gone.
	Bound Path `json:"bound,omitzero"`
	// Claimed says that an end which names another object than the source where Confirmed says stays,
	// and that the program does not look at it.
	Claimed bool `json:"claimed,omitempty"`
	// Never are alternatives of conditions on the source; where all of one are met nothing is
	// deleted.
	Never [][]Condition `json:"never,omitempty"`
	// Fails is of sources whose ends the program tries to delete and cannot, so that its finalizer
	// stays on the source; nil if there are none.
	Fails *Failing `json:"fails,omitempty"`
	// Keep are conditions on an end; where one is met that end stays.
	Keep []Keep `json:"keep,omitempty"`
	// As is the path in the source to the name of the ServiceAccount, in the source's namespace, as
	// which the program deletes. Without that account all ends stay; one that it may not delete
	// keeps the source too. The program acts as itself where nothing stands there.
	As Path `json:"as,omitzero"`
	// Permits is an object without whose permission an end stays; nil if there is none.
	Permits *Permits `json:"permits,omitempty"`
	// Annotation, if not empty, is that of an end which has the program delete it; its value is the
	// policy. The link is not there without it.
	Annotation string `json:"annotation,omitempty"`
}

// Failing says of which sources a program cannot delete the ends: of those that meet all conditions.
type Failing struct {
	Where []Condition `json:"where"`
	// Because is why, as a clause.
	Because string `json:"because"`
}

// Keep is a condition on an end with which it stays. A path between braces in its Value stands for
// what the source has there.
type Keep struct {
	Condition
	// Where are conditions on the source, all of which have to be met besides.
	Where []Condition `json:"where,omitempty"`
	// Since is the version of the program that was the first to keep such an end. Empty if all do.
	Since string `json:"since,omitempty"`
	// Unseen says that the program does not look at such an end at all.
	Unseen bool `json:"unseen,omitempty"`
}

// OwnerSide returns the side below which the other stands in a tree: the Source, unless it goes
// with the End, or keeps it, or Owner says so.
func (d *Definition) OwnerSide() Direction {
	switch d.Deletion.Of {
	case Source, Guard:
		return End
	case Neither:
		if d.Owner == End {
			return End
		}
	}
	return Source
}

// Direction says which of the two sides goes with the other.
type Direction string

// The directions.
const (
	// Neither goes with the other: the link is shown, and a deletion does not follow it.
	Neither Direction = "neither"
	// End goes with the source.
	End Direction = "end"
	// Source goes with the end.
	Source Direction = "source"
	// Guard: the source keeps the end from being deleted.
	Guard Direction = "guard"
	// Lead: the end manages the source. It is followed upwards, from objects that a user names, to
	// find the end; what ties the two is a link of the end's own.
	Lead Direction = "lead"
)

// Policy is how a program deletes.
type Policy string

// The policies.
const (
	Background Policy = "background"
	Foreground Policy = "foreground"
	Orphan     Policy = "orphan"
)

// Waits reports whether a program waits.
type Waits string

// When a program waits.
const (
	WaitsAlways     Waits = "always"
	WaitsForeground Waits = "foreground"
	WaitsNever      Waits = "never"
)
