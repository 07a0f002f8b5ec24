package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ArchiveHead returns the plan of an archive of a tree of which nothing is deleted.
func ArchiveHead(t *archive.Tree) *v1alpha1.Plan {
	head := &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"), Roots: refs(t.Graph, t.Roots), Complete: t.Complete(),
		Gaps:    append([]v1alpha1.Gap{}, t.Gaps...),
		Objects: refs(t.Graph, t.Objects), Actions: []v1alpha1.Action{}, Deleted: []v1alpha1.ObjectRef{},
		Survivors: []v1alpha1.Survivor{}, Blockers: []v1alpha1.Blocker{},
		Stuck: []v1alpha1.Survivor{}, Remaining: []v1alpha1.Survivor{}, NonBlocking: []v1alpha1.NonBlocking{},
		Forbidden: []v1alpha1.Forbidden{},
	}
	if len(t.Unconfirmed) > 0 {
		head.Unconfirmed = refs(t.Graph, t.Unconfirmed)
	}
	return head
}

// Saved returns an archive that was just written as the versioned object that -o json prints.
func Saved(file string, saved *archive.Saved) *v1alpha1.Archive {
	out := archived(file, saved.Head)
	out.Objects, out.Missing, out.Whole = archivedRefs(saved.Refs, nil), archivedRefs(saved.Gone, nil), true
	return out
}

// Archive returns what is in a file as the versioned object that -o json prints.
func Archive(file string, s *archive.Summary) *v1alpha1.Archive {
	out := archived(file, s.Head)
	resources := map[string]string{}
	for r := range archive.Named(s.Head) {
		resources[r.UID] = r.Resource
	}
	out.Objects, out.Missing, out.Whole = archivedRefs(s.Objects, resources), archivedRefs(s.Missing, nil), s.Damage == nil
	if s.Damage != nil {
		out.Damage = s.Damage.Error()
	}
	return out
}

func archived(file string, head *v1alpha1.Plan) *v1alpha1.Archive {
	return &v1alpha1.Archive{
		TypeMeta: v1alpha1.TypeMeta("Archive"), File: file, Cluster: head.Cluster, ArchivedAt: head.ArchivedAt,
		Policy: head.Policy, Actions: len(head.Actions),
		Roots: append([]v1alpha1.ObjectRef{}, head.Roots...), Complete: head.Complete,
		Gaps: append([]v1alpha1.Gap{}, head.Gaps...),
	}
}

// archivedRefs are objects as they are printed; resources has the names of types by the uids of
// objects whose own type is not known.
func archivedRefs(all []graph.Ref, resources map[string]string) []v1alpha1.ObjectRef {
	out := make([]v1alpha1.ObjectRef, len(all))
	for i, r := range all {
		out[i] = Ref(r)
		if r.Resource == "" {
			out[i].Resource = resources[r.UID]
		}
	}
	return out
}
