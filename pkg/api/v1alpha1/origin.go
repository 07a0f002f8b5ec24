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
