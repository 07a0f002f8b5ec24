package core

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// ToSee is how a type is seen that could not be listed.
func (e *Examination) ToSee() string {
	if e.Client.IsStill() {
		return "Look at the cluster, or at a dump that has it"
	}
	return "Make the type available, or run the command as a user who may list it"
}

// MayBeServed reports whether a group can have types that discovery does not show: its own
// discovery has a gap, or that of what tells which groups there are. Of a dump discovery shows what
// is in it; what tells of other types has to be, too.
func (e *Examination) MayBeServed(group string) bool {
	tell := []schema.GroupResource{cluster.APIServices, cluster.CRDs}
	return slices.ContainsFunc(e.Gaps, func(g v1alpha1.Gap) bool {
		is := func(r schema.GroupResource) bool {
			return r.Group == g.Group && (g.Resource == "*" || g.Resource == r.Resource && g.Reason == v1alpha1.GapNotSaved)
		}
		return g.Resource == "*" && g.Group == group || slices.ContainsFunc(tell, is)
	})
}
