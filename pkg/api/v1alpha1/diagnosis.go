package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Diagnosis is the output of kubectl gc why: the objects that are being deleted and still exist,
// and why.
type Diagnosis struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	Stuck           []Stuck `json:"stuck"`
	// Complete is false if anything that is stuck, or the cause of it, can be in a gap: that Stuck
	// is empty then does not mean that nothing is stuck.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
	// NotLookedAt is how many objects were neither read nor tried, as there were too many of their
	// like, or as a webhook would not have answered: their causes are those of another that is like
	// them.
	NotLookedAt int `json:"notLookedAt,omitempty"`
	// Younger is how many objects are being deleted for less than --older-than, and were not examined.
	Younger int `json:"younger,omitempty"`
}

// Stuck is an object that is being deleted, or that was asked about by name.
type Stuck struct {
	Object ObjectRef `json:"object"`
	// Since is the deletionTimestamp, null if the object is not being deleted.
	Since      *metav1.Time `json:"since"`
	Finalizers []string     `json:"finalizers"`
	Causes     []Cause      `json:"causes"`
	// Sampled says that the object was not looked at: the evidence names another of the same type,
	// namespace and finalizers, which was.
	Sampled bool `json:"sampled,omitempty"`
	// Checked says what was looked at, if no cause was found.
	Checked []string `json:"checked,omitempty"`
}

// Cause is why an object is still there, followed to where something can be done about it.
type Cause struct {
	// Code is the kind of cause. It does not change between versions.
	Code string `json:"code"`
	// Object is what the cause lies in, which can be another one than the stuck object, and of
	// another type.
	Object ObjectRef `json:"object"`
	// Via are the objects that lead from the stuck object to this one: each waits for the next.
	Via []ObjectRef `json:"via,omitempty"`
	// After is how many others have to be cured before this one comes up, at the least; 0 if it is
	// in the way now.
	After int `json:"after,omitempty"`
	// Finalizer is the finalizer that holds the Object, and Actor who removes it, empty if that is
	// not known.
	Finalizer string `json:"finalizer,omitempty"`
	Actor     string `json:"actor,omitempty"`
	// Summary says in a sentence what the cause is.
	Summary string `json:"summary,omitempty"`
	// Evidence are clauses that say what was seen.
	Evidence []string `json:"evidence"`
	// Observations are the Evidence, each with where it was read.
	Observations []Observation `json:"observations,omitempty"`
	// Remedy says what to do, and what that brings about, in sentences.
	Remedy string `json:"remedy"`
	// Cost says what is lost when the finalizer is removed by hand, in sentences, empty if nothing
	// is.
	Cost string `json:"cost,omitempty"`
	// DataLoss says that data is destroyed by a step, or by what follows from it.
	DataLoss bool `json:"dataLoss,omitempty"`
	// Commands do it, the least destructive first.
	Commands []string `json:"commands"`
	// Steps are the Commands, each with what it does and what it puts at risk.
	Steps []Step `json:"steps,omitempty"`
}

// Observation is something that was seen.
type Observation struct {
	// Says is a clause that says what was seen.
	Says string `json:"says"`
	// From is where it was read: an object, with the field if there is one.
	From string `json:"from,omitempty"`
}

// Step is one command of a remedy.
type Step struct {
	Command string `json:"command"`
	// Does says what the command brings about, in a clause.
	Does string `json:"does,omitempty"`
	// Risk is what it puts at risk: none, leaks-external, data-loss, breaks-cluster; empty if that
	// is not known.
	Risk string `json:"risk,omitempty"`
}
