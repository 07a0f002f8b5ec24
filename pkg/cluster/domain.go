package cluster

import "strings"

// Domain are the last two labels of an API group, or of the domain of a finalizer.
func Domain(name string) string {
	of, _, _ := strings.Cut(name, "/")
	labels := strings.Split(of, ".")
	return strings.Join(labels[max(0, len(labels)-2):], ".")
}

// OfOneDomain reports whether two API groups, neither of Kubernetes itself, are of one domain, as
// apps.kubeblocks.io and dataprotection.kubeblocks.io.
func OfOneDomain(a, b string) bool { return !BuiltIn(a) && !BuiltIn(b) && Domain(a) == Domain(b) }
