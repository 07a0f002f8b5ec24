package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Archive is the output of kubectl gc archive: what is in a file.
type Archive struct {
	metav1.TypeMeta `json:",inline"`
	// Origin is of the cluster that the objects are of; of a file that is read, as far as it says.
	Origin `json:",inline"`
	File   string `json:"file"`
	// Cluster is the uid of the namespace kube-system of the cluster that the objects are of, and
	// ArchivedAt when they were saved. They are empty if that is not known.
	Cluster    string       `json:"cluster,omitempty"`
	ArchivedAt *metav1.Time `json:"archivedAt,omitempty"`
	// Policy is the propagation policy of the deletion that the archive was written for; empty if
	// it was written for none.
	Policy string `json:"policy,omitempty"`
	// Actions is how many writes the plan of the archive has; 0 if nothing was deleted or changed.
	Actions int `json:"actions"`
	// Roots are the objects that were named then.
	Roots []ObjectRef `json:"roots"`
	// Complete is false when types could not be listed that may contain dependents of the Roots.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
	// Objects are what the archive has, owners before their dependents. Resource is empty where the
	// archive's plan does not name the object.
	Objects []ObjectRef `json:"objects"`
	// Missing are the objects that the plan of the archive names and that it does not have. If it
	// is whole, they no longer existed when it was written.
	Missing []ObjectRef `json:"missing"`
	// Whole says that nothing is lost that was written. Damage says what is, or may be.
	Whole  bool   `json:"whole"`
	Damage string `json:"damage,omitempty"`
}
