package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Comparison is the output of kubectl gc tree --against: what has changed from one time to another.
type Comparison struct {
	metav1.TypeMeta `json:",inline"`
	Before          Moment `json:"before"`
	After           Moment `json:"after"`
	// Complete is false when types could not be seen at either time. Objects of these are Unknown if
	// they were seen at one time only.
	Complete bool            `json:"complete"`
	Gaps     []Gap           `json:"gaps"`
	Deleted  []DeletedObject `json:"deleted"`
	Created  []CreatedObject `json:"created"`
	Changed  []ChangedObject `json:"changed"`
	Unknown  []ObjectRef     `json:"unknown"`
}

// Moment is what was looked at, and when.
type Moment struct {
	// Source is a file or a folder, or the address of a server.
	Source string      `json:"source"`
	At     metav1.Time `json:"at"`
	// Cluster is the uid of the namespace kube-system; empty if it could not be read.
	Cluster string `json:"cluster,omitempty"`
}

// DeletionCause is why an object is no more, as far as owner references tell.
type DeletionCause string

const (
	// DeletedItself is an object that was deleted although none, or not all, of its owners are gone.
	DeletedItself DeletionCause = "Itself"
	// DeletedWithOwner is one of which all owners are gone, of which at least one was there before.
	DeletedWithOwner DeletionCause = "Owner"
	// DeletedAsDangling is one whose owners were all absent before (GC-046).
	DeletedAsDangling DeletionCause = "AbsentOwner"
	// DeletedWithNamespace is one whose namespace was deleted.
	DeletedWithNamespace DeletionCause = "Namespace"
	// DeletedWithDefinition is one whose type had its CustomResourceDefinition deleted.
	DeletedWithDefinition DeletionCause = "Definition"
	// DeletedUnknown is one of whose owners it is not known whether they are gone.
	DeletedUnknown DeletionCause = "Unknown"
)

// DeletedObject is an object that is no more.
type DeletedObject struct {
	Object ObjectRef     `json:"object"`
	Cause  DeletionCause `json:"cause"`
	// With is what it was deleted with: an owner, its namespace or its definition. Top is the
	// topmost of what is gone above it, if that is another object. Which of them went first is not
	// known: in a foreground deletion the topmost is the last.
	With *ObjectRef `json:"with,omitempty"`
	Top  *ObjectRef `json:"top,omitempty"`
}

// CreatedObject is an object that was not there before.
type CreatedObject struct {
	Object ObjectRef `json:"object"`
	// Replaces is the uid of the object that had its name before.
	Replaces string `json:"replaces,omitempty"`
}

// ChangedObject is an object that has other owners or finalizers, or is being deleted since.
type ChangedObject struct {
	Object            ObjectRef    `json:"object"`
	OwnersAdded       []ObjectRef  `json:"ownersAdded,omitempty"`
	OwnersRemoved     []ObjectRef  `json:"ownersRemoved,omitempty"`
	FinalizersAdded   []string     `json:"finalizersAdded,omitempty"`
	FinalizersRemoved []string     `json:"finalizersRemoved,omitempty"`
	DeletionTimestamp *metav1.Time `json:"deletionTimestamp,omitempty"`
}
