package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// checkUnserved refuses to take a kind for unserved while anything says that its group is still
// meant to be served: a CRD or an APIService of the group, or discovery that failed; or while that
// cannot be known.
func checkUnserved(s *Snapshot, overrides plan.Overrides) error {
	for kind := range overrides.UnservedKinds {
		group := (graph.Ref{APIVersion: kind[0]}).Group()
		refuse := func(why string) error {
			return answer.Refuse(fmt.Errorf("nothing was deleted: --treat-kind-as-gone %s/%s: %s", kind[0], kind[1], why))
		}
		for _, gap := range s.Gaps {
			if hidesKinds(gap, group) {
				return refuse("cannot find out whether the kind is served: " + gap.Message)
			}
		}
		for _, t := range s.Graph.Types() {
			if t.Group == group && t.Kind == kind[1] {
				return refuse(fmt.Sprintf("%s serves this kind", t.APIVersion()))
			}
		}
		for i := range s.Graph.Len() {
			r := s.Graph.Ref(graph.ID(i))
			if s.Graph.Observed(graph.ID(i)) && (r.Resource == "customresourcedefinitions" || r.Resource == "apiservices") &&
				strings.HasSuffix(r.Name, "."+group) {
				return refuse(fmt.Sprintf("%s %s of the same group exists", r.Kind, r.Name))
			}
		}
	}
	return nil
}

// hidesKinds says whether a gap can hide that a group is served: its discovery, or what would tell
// of it.
func hidesKinds(gap v1alpha1.Gap, group string) bool {
	if gap.Resource == "*" {
		return slices.Contains([]string{group, "apiextensions.k8s.io", "apiregistration.k8s.io"}, gap.Group)
	}
	return gap.Resource == "customresourcedefinitions" || gap.Resource == "apiservices"
}
