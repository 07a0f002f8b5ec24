package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Explanation is the output of kubectl gc explain: what is known of finalizers.
type Explanation struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	Finalizers      []ExplainedFinalizer `json:"finalizers"`
	// Complete is false if finalizers that are present in the cluster can be in a gap. Without --in-cluster
	// nothing is asked.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
}

// ExplainedFinalizer is what is known of one finalizer, or of all whose name has a form, on some
// kinds of objects. Of a finalizer that is found in the cluster and not known, only Name and Found
// are there.
type ExplainedFinalizer struct {
	// Name is the finalizer as it was asked for or found, or its form: "*" stands for what is open,
	// and ^…$ is a regular expression.
	Name  string `json:"name"`
	Known bool   `json:"known"`
	// Form is what the entry is about.
	Form string `json:"form,omitempty"`
	// ByFormOnly means that nothing but the form of the name speaks for what is said here.
	ByFormOnly bool   `json:"byFormOnly,omitempty"`
	ID         string `json:"id,omitempty"`
	Pack       string `json:"pack,omitempty"`
	// Kinds are patterns of group/Kind, v1/Kind for the core; "*" is all.
	Kinds []string `json:"kinds,omitempty"`
	// Field is metadata.finalizers or spec.finalizers.
	Field string `json:"field,omitempty"`
	// Component is the program that removes it, Actor the part of it that does.
	Component string `json:"component,omitempty"`
	Actor     string `json:"actor,omitempty"`
	// Does is what the actor does before it removes the finalizer, IfRemoved what happens when it
	// is removed without that. Both are clauses.
	Does      string `json:"does,omitempty"`
	IfRemoved string `json:"ifRemoved,omitempty"`
	// Risk is none, leaks-external, data-loss or breaks-cluster; Polarity is cleanup, guard,
	// bookkeeping, builtin-gc, opt-in-destructive or opt-in-protective.
	Risk     string `json:"risk,omitempty"`
	Polarity string `json:"polarity,omitempty"`
	// Before, Knob and Note are sentences: what to do before it is removed, a setting that makes
	// the actor keep things, and what else there is to say.
	Before string `json:"before,omitempty"`
	Knob   string `json:"knob,omitempty"`
	Note   string `json:"note,omitempty"`
	// Signs say how the component is found.
	Signs   *Signs        `json:"signs,omitempty"`
	Protect []ProtectStep `json:"protect,omitempty"`
	// Claims is a label selector of the PersistentVolumeClaims that the actor deletes.
	Claims   string        `json:"claims,omitempty"`
	PausedBy []PausedBy    `json:"pausedBy,omitempty"`
	Takes    []Takes       `json:"takes,omitempty"`
	Needs    []RelatedKind `json:"needs,omitempty"`
	HeldBy   []HeldBy      `json:"heldBy,omitempty"`
	UsedBy   []RelatedKind `json:"usedBy,omitempty"`
	// WaitsFor are patterns of the kinds of dependents that have to be gone before the actor
	// removes it.
	WaitsFor []string       `json:"waitsFor,omitempty"`
	Parent   *RelatedKind   `json:"parent,omitempty"`
	Verified string         `json:"verified,omitempty"`
	Source   string         `json:"source,omitempty"`
	Found    []FinalizersOn `json:"found,omitempty"`
}

// SignPatterns are what the parts of a component are found by. Deployments, StatefulSets, DaemonSets
// and Leases are written namespace/name; "*" stands for a namespace that whoever installs it chooses,
// or for a part of a name. What stands in braces is filled from the object.
type SignPatterns struct {
	Deployments  []string `json:"deployments,omitempty"`
	StatefulSets []string `json:"statefulSets,omitempty"`
	DaemonSets   []string `json:"daemonSets,omitempty"`
	// Labels are label selectors of its workloads and pods.
	Labels []string `json:"labels,omitempty"`
	// Images are paths of repositories of its images, without registry, tag or digest. One stands
	// for every image whose path is this or ends with a slash and this.
	Images []string `json:"images,omitempty"`
	Leases []string `json:"leases,omitempty"`
	// APIServices and Webhooks are names of APIServices and of webhook configurations that it
	// serves.
	APIServices []string `json:"apiServices,omitempty"`
	Webhooks    []string `json:"webhooks,omitempty"`
	// Unverified are those of the names above that were not checked against its source.
	Unverified []string `json:"unverified,omitempty"`
}

// Lists are the lists of patterns, to be read or replaced.
func (p *SignPatterns) Lists() []*[]string {
	return []*[]string{&p.Deployments, &p.StatefulSets, &p.DaemonSets, &p.Labels, &p.Images, &p.Leases, &p.APIServices,
		&p.Webhooks, &p.Unverified}
}

// Signs are where the signs of a component's life are.
type Signs struct {
	SignPatterns `json:",inline"`
	// SameNamespace and SameLabel say which of several installations is responsible for an object.
	SameNamespace bool   `json:"sameNamespace,omitempty"`
	SameLabel     string `json:"sameLabel,omitempty"`
	// Outside means that it runs outside the cluster, always or usually.
	Outside bool `json:"outside,omitempty"`
	// Follow is definition if it is found through the owners of the CRD of the object's type.
	Follow string `json:"follow,omitempty"`
	Note   string `json:"note,omitempty"`
}

// ProtectStep is a command that saves data, with {type}, {namespace} and {name} for those of the
// object.
type ProtectStep struct {
	Command string `json:"command"`
	Does    string `json:"does"`
}

// PausedBy is where an object says that its actor ignores it. Without a value any value does.
type PausedBy struct {
	Annotation string `json:"annotation,omitempty"`
	Label      string `json:"label,omitempty"`
	Field      string `json:"field,omitempty"`
	Value      string `json:"value,omitempty"`
}

// Takes is what an object, or one that it names, has to say for the actor to work on it.
type Takes struct {
	// Of is the object that says it, nil for the object itself. IfAbsent means that the actor works
	// on the object also where Of does not exist.
	Of       *RelatedKind `json:"of,omitempty"`
	IfAbsent bool         `json:"ifAbsent,omitempty"`
	// Where are conditions, as clauses, all of which have to be met.
	Where []string `json:"where"`
	// Until is the version from which on the actor works on the object all the same.
	Until string `json:"until,omitempty"`
	// Remedy is what to do where they are not, in sentences; empty for finding out who takes it.
	Remedy string `json:"remedy,omitempty"`
}

// HeldBy is what keeps the actor until somebody else acts.
type HeldBy struct {
	// By names what holds the object, and Where are conditions on the object without which it does
	// not, as clauses. UnlessDeleted are what the object names, while none of which is being
	// deleted.
	By            string        `json:"by"`
	Where         []string      `json:"where,omitempty"`
	UnlessDeleted []RelatedKind `json:"unlessDeleted,omitempty"`
	// Waits is what the actor waits for, as a clause after its name, and Remedy what to do, in
	// sentences. {held} stands for what holds the object, and {actor} for the actor.
	Waits  string `json:"waits"`
	Remedy string `json:"remedy"`
}

// RelatedKind is a kind of object that the actor needs, that uses the object, or on whose behalf
// the finalizer is there, and the fields that say which one.
type RelatedKind struct {
	Group          string   `json:"group"`
	Kind           string   `json:"kind,omitempty"`
	KindField      string   `json:"kindField,omitempty"`
	ForField       string   `json:"forField,omitempty"`
	Name           string   `json:"name,omitempty"`
	NameField      string   `json:"nameField,omitempty"`
	NamespaceField string   `json:"namespaceField,omitempty"`
	Scope          string   `json:"scope"`
	Selectors      []string `json:"selectors,omitempty"`
	// Where are the conditions on which the actor needs it, or on which it uses the object, as
	// clauses, and Needs what it names that the actor needs too. Until is with what the use ends by
	// itself.
	Where []string      `json:"where,omitempty"`
	Needs []RelatedKind `json:"needs,omitempty"`
	Until string        `json:"until,omitempty"`
}

// FinalizersOn counts the objects of a type that have a finalizer.
type FinalizersOn struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Resource   string `json:"resource"`
	Objects    int    `json:"objects"`
	// Deleting are those of them that are being deleted.
	Deleting int `json:"deleting"`
}

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
	// Present reports whether the end is among the objects.
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
	// Deleted reports whether it is, by which program, with which propagation policy, and whether
	// that waits until it is gone.
	Deleted bool   `json:"deleted"`
	By      string `json:"by,omitempty"`
	Policy  string `json:"policy,omitempty"`
	Waits   bool   `json:"waits,omitempty"`
	// Why says why nothing is deleted, in what the source has that says so; Kept says why the end
	// stays, in what the end has.
	Why  string `json:"why,omitempty"`
	Kept string `json:"kept,omitempty"`
}
