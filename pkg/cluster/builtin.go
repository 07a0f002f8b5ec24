package cluster

import "k8s.io/client-go/kubernetes/scheme"

// BuiltIn says whether an API group is one of Kubernetes' own, as far as client-go knows them: no
// CRD defines its types.
func BuiltIn(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == CRDs.Group || group == APIServices.Group
}
