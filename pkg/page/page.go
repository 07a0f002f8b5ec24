package page

import "github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"

// Page is what a page shows. Objects are named by their index in Objects.
type Page struct {
	// Title is the command that the page is of, and Made when the cluster was looked at, in RFC 3339.
	Title string `json:"title"`
	Made  string `json:"made"`
	// Upwards says that what stands below an object are its owners and not its dependents.
	Upwards bool     `json:"upwards,omitempty"`
	Objects []Object `json:"objects"`
	// Edges are the references and links between the Objects.
	Edges []Edge `json:"edges"`
	// Gaps are what could not be listed. Complete is false if something that belongs here can be in
	// one.
	Complete bool           `json:"complete"`
	Gaps     []v1alpha1.Gap `json:"gaps"`
	// Plan is nil for a tree.
	Plan *Plan `json:"plan,omitempty"`
	// Known are what is known of the finalizers of the Objects, each once.
	Known []v1alpha1.ExplainedFinalizer `json:"known"`
	// Risks say what the risks of the Known mean.
	Risks map[string]string `json:"risks,omitempty"`
	// Stuck say why those of the Objects still exist that are being deleted, and Unexamined what
	// could not be listed for that. Undiagnosed is why that is not known.
	Stuck       []v1alpha1.Stuck `json:"stuck"`
	Unexamined  []v1alpha1.Gap   `json:"unexamined"`
	Undiagnosed string           `json:"undiagnosed,omitempty"`
}

// Object is one object of a page.
type Object struct {
	v1alpha1.ObjectRef
	State v1alpha1.State `json:"state"`
	// Ready and Status are what kubectl get prints.
	Ready   string              `json:"ready,omitempty"`
	Status  string              `json:"status,omitempty"`
	Failing *v1alpha1.Condition `json:"failing,omitempty"`
	// Age is the time since the object was created, and DeletingFor that since its
	// deletionTimestamp; empty if that is not known, or if it is not being deleted.
	Age         string `json:"age,omitempty"`
	DeletingFor string `json:"deletingFor,omitempty"`
	// Parent is the object below which this one stands, -1 for none. It comes before this one.
	Parent int `json:"parent"`
	// Root says that the object was asked for, and Cycle that it is its own ancestor.
	Root  bool `json:"root,omitempty"`
	Cycle bool `json:"cycle,omitempty"`
	// Cut is how many dependents, or owners, are not on the page because of --depth.
	Cut        int         `json:"cut,omitempty"`
	Finalizers []Finalizer `json:"finalizers,omitempty"`
	// Elsewhere are the owners that are not on the page.
	Elsewhere []Owner `json:"elsewhere,omitempty"`
	// Outcome is what becomes of the object by the plan; nil for a tree.
	Outcome *Outcome `json:"outcome,omitempty"`
}

// Edge is an ownerReference, or a link.
type Edge struct {
	Owner     int `json:"owner"`
	Dependent int `json:"dependent"`
	Reference
	// Link names what leads from the owner to the dependent without an ownerReference.
	Link string `json:"link,omitempty"`
}

// Owner is an owner that is not on the page.
type Owner struct {
	v1alpha1.ObjectRef
	Reference
}

// Reference is what an ownerReference says besides which the owner is, and what is wrong with it.
type Reference struct {
	Controller         bool     `json:"controller,omitempty"`
	BlockOwnerDeletion bool     `json:"blockOwnerDeletion,omitempty"`
	Problems           []string `json:"problems,omitempty"`
}

// Finalizer is a finalizer of an object.
type Finalizer struct {
	Name string `json:"name"`
	// Known is its index in the page's Known.
	Known int `json:"known"`
}

// Outcome is what becomes of an object by a plan.
type Outcome struct {
	// Word is deleted, kept, orphaned, unblocked, protected, deadlocked, stuck, forbidden, or empty
	// if nothing is done to the object.
	Word    string `json:"word,omitempty"`
	Because string `json:"because,omitempty"`
	// WaitsFor says what has to happen before the object is gone.
	WaitsFor string `json:"waitsFor,omitempty"`
	Policy   string `json:"policy,omitempty"`
}

// Plan is what is done to the objects.
type Plan struct {
	Policy string `json:"policy"`
	Digest string `json:"digest,omitempty"`
	// Summary is the plan in a line, and Remarks what else there is to say, a line each. Warnings
	// are those that keep it from being done.
	Summary  string   `json:"summary"`
	Warnings []string `json:"warnings,omitempty"`
	Remarks  []string `json:"remarks,omitempty"`
	// Steps are its waves, or the stages of an ordered deletion.
	Steps []Step `json:"steps"`
}

// Step is what happens in one wave or stage.
type Step struct {
	// Name is "wave 1" or "stage 1", or "before" for what is done before anything is deleted.
	Name    string   `json:"name"`
	Actions []Action `json:"actions"`
}

// Action is one write of a plan.
type Action struct {
	Verb    string `json:"verb"`
	Object  int    `json:"object"`
	By      string `json:"by"`
	Because string `json:"because,omitempty"`
}
