package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
