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
