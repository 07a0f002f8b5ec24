package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
