package core

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// GapClauses says what cannot be listed, and why. What the user may not list comes to one clause,
// without what RBAC says of each type.
func GapClauses(gaps []v1alpha1.Gap) []string {
	var all, namespaces []string
	forbidden := map[string][]string{}
	for _, gap := range gaps {
		what, where := gap.Resource, ""
		if gap.Group != "" {
			what += "." + gap.Group
		}
		if gap.Namespace != "" {
			where = " in " + gap.Namespace
		}
		if gap.Reason != v1alpha1.GapForbidden {
			all = append(all, fmt.Sprintf("%s%s cannot be listed: %s", what, where, gap.Message))
			continue
		}
		if forbidden[where] == nil {
			namespaces = append(namespaces, where)
		}
		forbidden[where] = append(forbidden[where], what)
	}
	for _, where := range namespaces {
		all = append(all, "you may not list "+phrase.And(forbidden[where])+where)
	}
	return all
}

// MayBeServed says whether a group can have types that discovery does not show: its own discovery
// has a gap, or that of what tells which groups there are.
func (e *Examination) MayBeServed(group string) bool {
	return slices.ContainsFunc(e.Gaps, func(g v1alpha1.Gap) bool {
		return g.Resource == "*" && slices.Contains([]string{group, cluster.APIServices.Group, cluster.CRDs.Group}, g.Group)
	})
}
