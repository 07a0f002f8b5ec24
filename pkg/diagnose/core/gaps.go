package core

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// MayBeServed reports whether a group can have types that discovery does not show: its own
// discovery has a gap, or that of what tells which groups there are.
func (e *Examination) MayBeServed(group string) bool {
	return slices.ContainsFunc(e.Gaps, func(g v1alpha1.Gap) bool {
		return g.Resource == "*" && slices.Contains([]string{group, cluster.APIServices.Group, cluster.CRDs.Group}, g.Group)
	})
}
