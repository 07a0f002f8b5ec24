package core

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// ToSee is how the types of gaps are seen, as a sentence without its end.
func (e *Examination) ToSee(gaps []v1alpha1.Gap) string {
	types := phrase.And(v1alpha1.TypeNames(gaps))
	switch {
	case e.Client.IsStill():
		return "Look at the cluster, or at a dump that has " + types
	case slices.ContainsFunc(gaps, func(g v1alpha1.Gap) bool { return !g.Reason.OfReader() }):
		return "Make " + types + " available, or run the command as a user who may list them"
	}
	return "Run the command as a user who may list " + types
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
