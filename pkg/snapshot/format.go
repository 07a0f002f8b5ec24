package snapshot

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// The names of entries.
const (
	headName = "snapshot.json"
	endName  = "end.json"
	metadata = "metadata"
	whole    = "whole"
)

// format is the version of the layout. A program reads those that it knows, and no other.
const format = 1

// Head begins a snapshot: what was known before the first list.
type Head struct {
	Format int `json:"format"`
	// Cluster is the uid of the namespace kube-system, empty if it could not be read. Server is the
	// address of the API server.
	Cluster string `json:"cluster,omitempty"`
	Server  string `json:"server"`
	// Namespace is the only one whose objects were listed; empty for all. Cluster-scoped objects were
	// listed in any case.
	Namespace string `json:"namespace,omitempty"`
	// Begun is when it was taken, by the server's clock.
	Begun time.Time `json:"begun"`
	// Types are those that discovery shows, and Unknown the versions of which it does not say what
	// they have.
	Types   []Type                `json:"types"`
	Unknown []schema.GroupVersion `json:"unknown,omitempty"`
}

// Type is a type that discovery shows, in the version that it prefers.
type Type struct {
	metav1.APIResource
	OtherVersions []string `json:"otherVersions,omitempty"`
}

// End ends a snapshot: what came of the lists.
type End struct {
	// Objects is how many it has, and Whole how many of them it has more of than their metadata.
	Objects int `json:"objects"`
	Whole   int `json:"whole"`
	// Lists are those of metadata that came to their end, and Contents those of whole objects.
	Lists    []List `json:"lists"`
	Contents []Of   `json:"contents"`
	// Entries are how many entries there are of each list, whole or not.
	Entries []Entries `json:"entries"`
	// Discarded are entries of lists that were begun again, and tell nothing.
	Discarded []string `json:"discarded,omitempty"`
	// Gaps are what could not be seen.
	Gaps []v1alpha1.Gap `json:"gaps,omitempty"`
}

// List is a list of the metadata of all objects of a type, in a namespace or everywhere. A watch can
// go on from its resourceVersion.
type List struct {
	Of
	Version         string `json:"version"`
	Kind            string `json:"kind"`
	Namespaced      bool   `json:"namespaced"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Entries are how many entries a list has of metadata, with those that were discarded, and of whole
// objects.
type Entries struct {
	Of
	Metadata int `json:"metadata,omitempty"`
	Whole    int `json:"whole,omitempty"`
}

// Of is what a list is of: a type, in a namespace or everywhere.
type Of struct {
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
}
