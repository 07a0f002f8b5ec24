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

// Snapshot is the output of kubectl gc snapshot: what was saved of a cluster.
type Snapshot struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	// File is what it was saved in, with as many Bytes.
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	// Cluster is the uid of the namespace kube-system; empty if it could not be read. TakenAt is when
	// the first list was asked for, by the server's clock.
	Cluster string      `json:"cluster,omitempty"`
	TakenAt metav1.Time `json:"takenAt"`
	// Types is how many the server has, Objects how many have their metadata in the snapshot, and
	// WholeObjects how many it has whole.
	Types        int `json:"types"`
	Objects      int `json:"objects"`
	WholeObjects int `json:"wholeObjects"`
	// Complete is false when types could not be listed.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
	// Unread are types of which only metadata was saved, although more was to be.
	Unread []Gap `json:"unread,omitempty"`
}
