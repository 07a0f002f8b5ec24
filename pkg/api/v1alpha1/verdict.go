package v1alpha1

// FinalizerVerdict is what is to be done about one finalizer of an object, and what is known of it.
type FinalizerVerdict struct {
	Object ObjectRef `json:"object"`
	// Finalizer is empty for an object that has none and whose deletion was left half done.
	Finalizer string `json:"finalizer,omitempty"`
	// Field is metadata.finalizers, or spec.finalizers of a namespace; empty if the object has no
	// such finalizer.
	Field string `json:"field,omitempty"`
	// Verdict is how it is removed, Patch, Orphan, Policy, Finalize or Delete, or Refused.
	Verdict string `json:"verdict"`
	// Needs is what a refusal needs to be overridden: flags, or "confirmation", on a terminal or by
	// --force.
	Needs string `json:"needs,omitempty"`
	// Note says why it is this way.
	Note string `json:"note,omitempty"`
	// Actor is who removes the finalizer, and Life whether it is Alive, Dead or Unknown, by the
	// Evidence.
	Actor    string   `json:"actor,omitempty"`
	Life     string   `json:"life,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	// Risk is none, leaks-external, data-loss or breaks-cluster; Polarity what the finalizer is
	// for; Leaks what happens if it is removed, and Completion what its actor does instead. They
	// are empty for a finalizer of which nothing is known.
	Risk       string `json:"risk,omitempty"`
	Polarity   string `json:"polarity,omitempty"`
	Leaks      string `json:"leaks,omitempty"`
	Completion string `json:"completion,omitempty"`
	// Outside says what the object stands for outside the cluster, as far as it names it.
	Outside []string `json:"outside,omitempty"`
	// Refusals are what speaks against it.
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Refusal is a reason not to do something.
type Refusal struct {
	// Reason is Because in one word.
	Reason  string `json:"reason"`
	Because string `json:"because"`
	// Override is the flag that overrides it, empty if none does; Overridden reports whether it was
	// given.
	Override   string `json:"override,omitempty"`
	Overridden bool   `json:"overridden,omitempty"`
	// Hint is what to do about it.
	Hint string `json:"hint,omitempty"`
}
