package archive

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Printed returns an archive that was just written as the versioned object that -o json prints.
func (s *Saved) Printed(file string) *v1alpha1.Archive {
	out := printed(file, s.Head)
	out.Objects, out.Missing, out.Whole = printedRefs(s.Refs, nil), printedRefs(s.Gone, nil), true
	return out
}

// Printed returns what is in a file as the versioned object that -o json prints.
func (s *Summary) Printed(file string) *v1alpha1.Archive {
	out := printed(file, s.Head)
	resources := map[string]string{}
	for r := range Named(s.Head) {
		resources[r.UID] = r.Resource
	}
	out.Objects, out.Missing, out.Whole = printedRefs(s.Objects, resources), printedRefs(s.Missing, nil), s.Damage == nil
	if s.Damage != nil {
		out.Damage = s.Damage.Error()
	}
	return out
}

func printed(file string, head *v1alpha1.Plan) *v1alpha1.Archive {
	out := &v1alpha1.Archive{
		TypeMeta: v1alpha1.TypeMeta("Archive"), File: file, Cluster: head.Cluster, ArchivedAt: head.ArchivedAt,
		Policy: head.Policy, Actions: len(head.Actions),
		Roots: append([]v1alpha1.ObjectRef{}, head.Roots...), Complete: head.Complete,
		Gaps: append([]v1alpha1.Gap{}, head.Gaps...),
	}
	if head.Cluster != "" && head.ArchivedAt != nil { // the file does not say under which name it was asked
		out.SetClusterRef(v1alpha1.ClusterRef{UID: head.Cluster, ObservedAt: *head.ArchivedAt})
	}
	return out
}

// printedRefs are objects as they are printed; resources has the names of types by the uids of
// objects whose own type is not known.
func printedRefs(all []graph.Ref, resources map[string]string) []v1alpha1.ObjectRef {
	out := append([]v1alpha1.ObjectRef{}, all...)
	for i, r := range out {
		if r.Resource == "" {
			out[i].Resource = resources[r.UID]
		}
	}
	return out
}
