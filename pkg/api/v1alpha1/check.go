package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CheckReport is the output of kubectl gc check: what is wrong with ownerReferences, namespaces and
// finalizers, and what the garbage collector does about it.
type CheckReport struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	Findings        []CheckFinding `json:"findings"`
	// Objects and References are how many were checked.
	Objects    int `json:"objects"`
	References int `json:"references"`
	// Complete is false if something that has to be checked can be in a gap: that Findings is empty
	// then does not mean that nothing is wrong.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
	// NotLookedAt is how many finalizers, of a kind of objects or of one of them, were not looked
	// at, because there are too many.
	NotLookedAt int `json:"notLookedAt,omitempty"`
}

// CheckFinding is one thing that is wrong with an object.
type CheckFinding struct {
	Object ObjectRef `json:"object"`
	// OwnerReference is the reference that the finding is about, as the object has it; null if it
	// is about the object itself.
	OwnerReference *metav1.OwnerReference `json:"ownerReference"`
	// Index is where the reference stands in metadata.ownerReferences, from 0; meaningful with an
	// OwnerReference.
	Index int `json:"index"`
	// Code is the kind of finding. It does not change between versions.
	Code string `json:"code"`
	// Severity is error, warning or info.
	Severity string `json:"severity"`
	// Message says what is wrong, in a clause.
	Message string `json:"message"`
	// Effect is what comes of it in a word: DeleteObject, RemoveReference, KeepObject, BlockOwner,
	// BlockDeletion, Reject, None or Unknown.
	Effect string `json:"effect"`
	// Consequence says what the garbage collector does about it, and when, in a clause.
	Consequence string `json:"consequence"`
	// Remedy says what to do, in sentences, and Commands do it; the first is the one to try.
	Remedy   string   `json:"remedy,omitempty"`
	Commands []string `json:"commands"`
	// Instead is the object that the message is about besides: the owner where it is, or what has
	// its name.
	Instead *ObjectRef `json:"instead,omitempty"`
	// Finalizer is that which nobody removes, Actor who should, and Count how many objects of the
	// type have it.
	Finalizer string `json:"finalizer,omitempty"`
	Actor     string `json:"actor,omitempty"`
	Count     int    `json:"count,omitempty"`
	// Evidence are clauses that say what was seen.
	Evidence []string `json:"evidence,omitempty"`
	// File is where a manifest is from.
	File string `json:"file,omitempty"`
}
