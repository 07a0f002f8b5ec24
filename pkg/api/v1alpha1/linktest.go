package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LinkTest is the output of kubectl gc explain --test-pack: the links that packs find in objects,
// without a cluster.
type LinkTest struct {
	metav1.TypeMeta `json:",inline"`
	// Sources are the objects that name others, in the order in which they were read.
	Sources []LinkSource `json:"sources"`
	// Unreached are the ids of the links of the tested packs that no object has.
	Unreached []string `json:"unreached"`
	// Differs says that the links are not those of links.txt. It is false if there is no such file.
	Differs bool `json:"differs"`
}

// LinkSource is an object that names others in its content.
type LinkSource struct {
	Object ObjectRef   `json:"object"`
	Links  []FoundLink `json:"links"`
	// Errors say what in the object could not be understood.
	Errors []string `json:"errors,omitempty"`
}

// FoundLink is a link from a source to an end.
type FoundLink struct {
	// ID is that of the link in its pack, and Name that of the edge.
	ID   string `json:"id"`
	Name string `json:"name"`
	// End is what the source names. Its apiVersion has no version where the source says none, and
	// its uid is that of the reference.
	End ObjectRef `json:"end"`
	// Present says whether the end is among the objects.
	Present bool `json:"present"`
	// Field is where the source names it; Labels is the label selector that it matches instead.
	Field  string `json:"field,omitempty"`
	Labels string `json:"labels,omitempty"`
	// Confirmed says that the dependent names the owner too, or is the source. kubectl gc writes to
	// no object because of a link that is not confirmed.
	Confirmed bool `json:"confirmed"`
	// Of says what is deleted with the other: end, source, guard or neither. Owner is the side that
	// stands above the other in a tree: source or end.
	Of    string `json:"of"`
	Owner string `json:"owner"`
	// Deleted says whether it is, by which program, with which propagation policy, and whether that
	// waits until it is gone.
	Deleted bool   `json:"deleted"`
	By      string `json:"by,omitempty"`
	Policy  string `json:"policy,omitempty"`
	Waits   bool   `json:"waits,omitempty"`
	// Why says why nothing is deleted, in what the source has that says so; Kept says why the end
	// stays, in what the end has.
	Why  string `json:"why,omitempty"`
	Kept string `json:"kept,omitempty"`
}
