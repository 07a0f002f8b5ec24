package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Result is what came of a plan.
type Result struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	Done            []Action        `json:"done"`
	Failed          []FailedAction  `json:"failed"`
	Skipped         []SkippedObject `json:"skipped"`
	// Orphaned are the dependents that were to be left behind, and how they were found in the end.
	Orphaned []SkippedObject `json:"orphaned"`
	// Remaining is what was waited for and is still there.
	Remaining []SkippedObject `json:"remaining"`
	// Deleted are the objects that were waited for and are deleted, in the order in which that was
	// seen, of kubectl gc wait.
	Deleted []ObjectRef `json:"deleted,omitempty"`
	// Stuck says why objects of Remaining still exist after a time-out, as kubectl gc why does, of
	// kubectl gc wait.
	Stuck []Stuck `json:"stuck,omitempty"`
	// Unplanned is what was seen to be deleted with the cascade although the plan does not have it:
	// dependents that came up later.
	Unplanned []ObjectRef `json:"unplanned,omitempty"`
	// Stranded is what was left in namespaces that were finalized all the same, out of reach.
	Stranded []ObjectRef `json:"stranded,omitempty"`
	// Follows are what the garbage collector deletes after the finalizers were removed, as the plan
	// said.
	Follows []Follower `json:"follows,omitempty"`
	// Disks are the volumes whose data are destroyed by what was done and what follows, as the plan
	// said.
	Disks []Disk `json:"disks,omitempty"`
	// Findings are those that are left, of kubectl gc check --fix.
	Findings []CheckFinding `json:"findings,omitempty"`
	Gaps     []Gap          `json:"gaps"`
	Complete bool           `json:"complete"`
}

// NewResult is a Result of nothing that met gaps, with the lists that are always there.
func NewResult(gaps []Gap) *Result {
	return &Result{
		TypeMeta: TypeMeta("Result"), Complete: len(gaps) == 0, Gaps: append([]Gap{}, gaps...), Done: []Action{},
		Failed: []FailedAction{}, Skipped: []SkippedObject{}, Orphaned: []SkippedObject{}, Remaining: []SkippedObject{},
	}
}

// Add adds an action that was done, or that failed with an error.
func (r *Result) Add(a Action, err error) {
	if err != nil {
		r.Failed = append(r.Failed, FailedAction{Action: a, Error: err.Error()})
		return
	}
	r.Done = append(r.Done, a)
}

// Skip adds an object that nothing was done to.
func (r *Result) Skip(object ObjectRef, because string) {
	r.Skipped = append(r.Skipped, SkippedObject{Object: object, Because: because})
}

// FailedAction is an action that the server refused.
type FailedAction struct {
	Action Action `json:"action"`
	Error  string `json:"error"`
}

// SkippedObject is an object that nothing was done to, or that is left, and why.
type SkippedObject struct {
	Object  ObjectRef `json:"object"`
	Because string    `json:"because"`
}

// RestorePlan is what kubectl gc restore does with an archive.
type RestorePlan struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	// Archive is the file.
	Archive string `json:"archive"`
	// Actions are the writes, in the order in which they are begun. Their verbs are create, apply,
	// refer, status and rebind.
	Actions []RestoreAction `json:"actions"`
	// Left are archived objects that nothing is done to on purpose, and Held those that cannot be
	// restored now.
	Left []Survivor `json:"left"`
	Held []Survivor `json:"held"`
	// Forbidden are rights that the user needs and does not have. If there are any, nothing is
	// done.
	Forbidden []Forbidden `json:"forbidden"`
	// Complete is false if something is held.
	Complete bool `json:"complete"`
}

// RestoreAction is one write of a restore.
type RestoreAction struct {
	Verb string `json:"verb"`
	// Object is as archived for create, with the uid that it had.
	Object ObjectRef `json:"object"`
	// Owners are the references that the object gets.
	Owners []RestoredOwner `json:"owners"`
	// UID is that of the object after the action.
	UID string `json:"uid,omitempty"`
	// Notes say what does not come back as it was.
	Notes []string `json:"notes,omitempty"`
}

// RestoredOwner is an owner of a restored object.
type RestoredOwner struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// ArchivedUID is the uid that it had, and UID the one that it has now; empty for an owner that
	// is created too.
	ArchivedUID string `json:"archivedUID"`
	UID         string `json:"uid,omitempty"`
}

// RestoreResult is what came of a restore.
type RestoreResult struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	Done            []RestoreAction `json:"done"`
	Failed          []RestoreFailed `json:"failed"`
	// Unasked are the actions of a dry run that the server cannot be asked about, because what they
	// need is not there yet.
	Unasked []RestoreAction `json:"unasked,omitempty"`
	Left    []Survivor      `json:"left"`
	Held    []Survivor      `json:"held"`
	// Complete is false if something failed or is held.
	Complete bool `json:"complete"`
}

// RestoreFailed is an action that was not done.
type RestoreFailed struct {
	Action RestoreAction `json:"action"`
	Error  string        `json:"error"`
}
