package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Version is the output of kubectl gc version: which build of the plugin runs, and from where.
type Version struct {
	metav1.TypeMeta `json:",inline"`
	// Version is the tag of a release, what git describes of a build from a checkout, or
	// v0.0.0-dev.
	Version string `json:"version"`
	// Commit is the full hash of the commit that was built, and Date when it was committed (RFC
	// 3339). Both are empty if the build does not know.
	Commit string `json:"commit,omitempty"`
	Date   string `json:"date,omitempty"`
	// GoVersion is that of the compiler, and Platform the system, as linux/amd64.
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// Path is the executable that runs, with links resolved.
	Path string `json:"path"`
}
