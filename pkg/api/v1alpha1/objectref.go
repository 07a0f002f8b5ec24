package v1alpha1

// ObjectRef identifies one object. For an owner that was referenced and never seen, the fields are
// those of the reference, and resource is empty where the kind could not be resolved.
type ObjectRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Resource is the plural name that the server uses in its paths.
	Resource string `json:"resource,omitempty"`
	// Namespace is empty for a cluster-scoped object.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}
