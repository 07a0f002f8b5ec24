package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// State is what is known of an object's existence.
type State string

const (
	// StateActive means that the object was seen and is not being deleted.
	StateActive State = "Active"
	// StateDeleting means that the object was seen with a deletionTimestamp.
	StateDeleting State = "Deleting"
	// StateAbsent means that a reference names the object, and that the type it names was listed
	// completely in that scope without it.
	StateAbsent State = "Absent"
	// StateUnknown means that a reference names the object and that it lies in a gap.
	StateUnknown State = "Unknown"
)

// Tree is the output of kubectl gc tree: every object that it shows, once, in the order in which it
// shows them.
type Tree struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	// Complete is false when there are gaps: dependents or owners may be missing.
	Complete bool       `json:"complete"`
	Gaps     []Gap      `json:"gaps"`
	Nodes    []TreeNode `json:"nodes"`
}

// TreeNode is one object of a Tree.
type TreeNode struct {
	Ref        ObjectRef `json:"ref"`
	State      State     `json:"state"`
	Finalizers []string  `json:"finalizers"`
	// Ready and Status are what kubectl get prints for the object, where it prints them.
	Ready  string `json:"ready,omitempty"`
	Status string `json:"status,omitempty"`
	// Failing is the condition of a custom resource that says what is wrong with it, for example
	// Synced, where one does.
	Failing           *Condition   `json:"failing,omitempty"`
	CreationTimestamp *metav1.Time `json:"creationTimestamp,omitempty"`
	DeletionTimestamp *metav1.Time `json:"deletionTimestamp,omitempty"`
	// Owners are the object's ownerReferences and, with Link set, the owners that no ownerReference
	// records.
	Owners []TreeOwner `json:"owners"`
	// Sum is what goes with the object when it alone is deleted, null unless --sum asks for it.
	Sum *Sum `json:"sum,omitempty"`
	// Depth is the distance from the root under which the object is expanded, 0 for a root.
	Depth int  `json:"depth"`
	Root  bool `json:"root"`
	// Cycle is true when the object is part of an ownership cycle.
	Cycle bool `json:"cycle,omitempty"`
}

// Sum is what is deleted with an object in the background.
type Sum struct {
	// Objects is how many there are, the object itself among them; at least, where the Tree has gaps.
	Objects int `json:"objects"`
	// Requests are the sums of what the pods among them request, and of the storage that the
	// PersistentVolumeClaims do, as quantities by resource: cpu, memory, storage.
	Requests map[string]string `json:"requests,omitempty"`
	// Unread is how many of these pods and PersistentVolumeClaims could not be read, or are too many:
	// what they request is not in the Requests.
	Unread int `json:"unread,omitempty"`
}

// Condition is one of those in the status of an object.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// TreeOwner is one edge from a dependent to an owner.
type TreeOwner struct {
	UID                string `json:"uid"`
	Controller         bool   `json:"controller"`
	BlockOwnerDeletion bool   `json:"blockOwnerDeletion"`
	// Link names the rule behind an edge that no ownerReference records; empty for an
	// ownerReference.
	Link string `json:"link,omitempty"`
	// Confirmed says of a Link that the object says so too, and not only the owner; left out for an
	// ownerReference.
	Confirmed *bool `json:"confirmed,omitempty"`
	// Problems say what is wrong with the reference, for example WrongNamespace.
	Problems []string `json:"problems,omitempty"`
}

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
