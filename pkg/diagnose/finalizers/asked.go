package finalizers

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// asksInKind is how the kind of an object is called that asks for a deletion; a policy for deletions
// asks for none.
var asksInKind = regexp.MustCompile(`^Delete[A-Z].*Request$|Deletion(?:Request)?$`)

// Asked is who has asked for the deletion of an object by an object of its own: a custom resource
// of the same group whose kind is called after that and that names it, as a DeleteBackupRequest of
// Velero does (https://github.com/velero-io/velero/pull/383), which is not tried again
// (https://github.com/velero-io/velero/issues/10169); with what it says of itself.
func (e *Examiner) Asked(
	ctx context.Context, o *unstructured.Unstructured,
) (by []v1alpha1.ObjectRef, seen []v1alpha1.Observation) {
	group := o.GroupVersionKind().Group
	if cluster.BuiltIn(group) || e.Many {
		return nil, nil
	}
	for _, r := range e.Catalog.Resources {
		if r.Group != group || !asksInKind.MatchString(r.Kind) {
			continue
		}
		for _, request := range e.List(ctx, r.Type, o.GetNamespace()) {
			field := naming(request, o)
			if field == "" {
				continue
			}
			by = append(by, e.Ref(request))
			seen = append(seen, core.ObservedAt(cluster.Place(request, field),
				fmt.Sprintf("%s asks for its deletion", cluster.Located(request)))...)
			for _, s := range slices.Concat(status.Texts(request), []status.Said{status.Stage(request)}) {
				if s.Text != "" {
					seen = append(seen, core.ObservedAt(cluster.Place(request, s.Field),
						fmt.Sprintf("of %s, %s is: %s", cluster.Located(request), s.Field, core.Brief(s.Text)))...)
				}
			}
		}
	}
	return by, seen
}
