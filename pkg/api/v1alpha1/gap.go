package v1alpha1

import "slices"

// GapReason says why something could not be seen.
type GapReason string

const (
	// GapForbidden means that the user may not list the type there, or read an object of it.
	GapForbidden GapReason = "Forbidden"
	// GapUnavailable means that the server of the type did not answer: 5xx, a time-out, or a list
	// that expired again and again.
	GapUnavailable GapReason = "Unavailable"
	// GapDiscoveryFailed means that the types of the group are not known, because its discovery
	// failed.
	GapDiscoveryFailed GapReason = "DiscoveryFailed"
	// GapFailed means any other answer, for example 404 or 405, or one that could not be decoded.
	GapFailed GapReason = "Failed"
	// GapNotSaved means that what is read in the place of a cluster, as a dump, does not have it.
	GapNotSaved GapReason = "NotSaved"
)

// OfReader returns whether a gap is one of whoever reads the cluster, and says nothing of the
// cluster itself: others see what lies in it.
func (r GapReason) OfReader() bool { return r == GapForbidden || r == GapNotSaved }

// Gap is a part of the cluster that could not be seen. What lies in a gap is unknown, which is not
// absent. Most are of a type that could not be listed; where only objects of it could not be read,
// the message says so and names one.
type Gap struct {
	// Resource is the plural name of the type, or "*" when the types of the group are not known.
	Resource string `json:"resource"`
	Group    string `json:"group"`
	// Cluster is that of several which could not be asked, by its context; empty for a part of one.
	Cluster string `json:"cluster,omitempty"`
	// Namespace is empty when the gap is not confined to one namespace.
	Namespace string    `json:"namespace,omitempty"`
	Reason    GapReason `json:"reason"`
	Message   string    `json:"message"`
	// Links says that the objects themselves are known, and what they name in their content is not:
	// a link of a pack can be missing.
	Links bool `json:"links,omitempty"`
}

// Hides returns whether what lies in the gap can be of a type in a namespace; an empty namespace is
// that of cluster-scoped objects.
func (g Gap) Hides(group, resource, namespace string) bool {
	return g.Group == group && (g.Resource == resource || g.Resource == "*") &&
		(g.Namespace == "" || g.Namespace == namespace)
}

// IsQuestion returns whether the gap is of what a server is asked, as whether a webhook rejects a
// write, and of no type that it lists.
func (g Gap) IsQuestion() bool {
	return g.Group == "admission.k8s.io" && g.Resource == "admissionreviews" ||
		g.Group == "authorization.k8s.io" && g.Resource == "subjectaccessreviews"
}

// TypeNames names the types that gaps are about, each once.
func TypeNames(gaps []Gap) []string {
	var names []string
	for _, g := range gaps {
		if name := g.TypeName(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// TypeName names the type that the gap is about: widgets.example.com, or *.example.com for all
// types of a group.
func (g Gap) TypeName() string {
	switch {
	case g.Group == "" && g.Resource == "*":
		return "the core group"
	case g.Group == "":
		return g.Resource
	}
	return g.Resource + "." + g.Group
}
