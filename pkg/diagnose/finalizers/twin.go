package finalizers

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// twin is for a finalizer that no pack knows, of another API group that has the kind of a custom
// resource as well: programs that move to another group have each object twice for a while, and let
// the old one go for the sake of the new
// (https://github.com/opensearch-project/opensearch-k8s-operator/issues/1417). Absent names the
// object of that group and name, if that is proven not to exist.
func (e dependencies) twin(ctx context.Context, b core.Responsible) (seen []v1alpha1.Observation, absent string) {
	if e.Many {
		return nil, ""
	}
	o, own := b.Object, b.Object.GroupVersionKind()
	group, _, slashed := strings.Cut(b.Finalizer, "/")
	r, served := e.KindIn(group, own.Kind)
	if !slashed || b.IsKnown || group == own.Group || !served || cluster.BuiltIn(own.Group) || cluster.BuiltIn(group) ||
		r.Namespaced != (o.GetNamespace() != "") {
		return nil, ""
	}
	ref := core.RefTo(r.Type, o.GetNamespace(), o.GetName())
	other, err := e.Reader.GetObject(ctx, schema.GroupResource{Group: group, Resource: r.Resource}, o.GetNamespace(),
		o.GetName())
	called := fmt.Sprintf("%s of %s", core.Named(ref), group)
	switch {
	case err != nil:
		return nil, ""
	case other == nil:
		return core.Seen("it is called after %s, which has the kind too, and there is no %s", group, called), called
	case other.GetDeletionTimestamp() != nil:
		return core.Seen("it is called after %s, which has the kind too, and %s is being deleted as well", group, called), ""
	}
	return core.Seen("it is called after %s, which has the kind too, and %s is there", group, called), ""
}
