package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterRef says which cluster something was found in.
type ClusterRef struct {
	// UID is that of the namespace kube-system, empty if it could not be read.
	UID string `json:"uid,omitempty"`
	// Context is what the cluster is called on the machine of whoever asked: the context, or the file
	// of the kubeconfig.
	Context string `json:"context"`
	Server  string `json:"server"`
	// ObservedAt is when the answer was complete.
	ObservedAt metav1.Time `json:"observedAt"`
}

// Origin says from which cluster the object is that a command prints.
type Origin struct {
	// ClusterRef is null where no cluster was asked, as of manifests.
	ClusterRef *ClusterRef `json:"clusterRef,omitempty"`
}

// SetClusterRef sets it.
func (o *Origin) SetClusterRef(ref ClusterRef) { o.ClusterRef = &ref }

// List is what a command has found in several clusters.
type List struct {
	metav1.TypeMeta `json:",inline"`
	// Complete is false if a cluster could not be asked, or an item is not complete. Gaps are the
	// clusters that could not be asked.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
	// NotFound are the clusters that do not have what was named.
	NotFound []NotFound `json:"notFound,omitempty"`
	// Items are what the command prints of one cluster, with the key clusterRef, which is a ClusterRef,
	// in the order of the names of the contexts.
	Items []map[string]any `json:"items"`
}

// NotFound is a cluster that does not have what was named.
type NotFound struct {
	ClusterRef ClusterRef `json:"clusterRef"`
	Message    string     `json:"message"`
}
