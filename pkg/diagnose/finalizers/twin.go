package finalizers

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// twin is for a finalizer that no pack knows, of another API group that has the kind of a custom
// resource as well: programs that move to another group have each object twice for a while, and let
// the old one go for the sake of the new
// (https://github.com/opensearch-project/opensearch-k8s-operator/issues/1417). Name is
// the object of that group and name, if that is proven not to exist.
func (e dependencies) twin(ctx context.Context, b core.Responsible) (
	absent, there []v1alpha1.Observation, name string) {
	if e.Many {
		return nil, nil, ""
	}
	o, own := b.Object, b.Object.GroupVersionKind()
	group, _, slashed := strings.Cut(b.Finalizer, "/")
	r, served := e.Reader.KindIn(group, own.Kind)
	if !slashed || b.IsKnown || group == own.Group || !served || cluster.BuiltIn(own.Group) || cluster.BuiltIn(group) ||
		r.Namespaced != (o.GetNamespace() != "") {
		return nil, nil, ""
	}
	ref := core.RefTo(r.Type, o.GetNamespace(), o.GetName())
	other, err := e.Reader.GetObject(ctx, r.GroupResource(), o.GetNamespace(), o.GetName())
	if err != nil {
		return nil, nil, "" // and the reader has noted the gap
	}
	called := fmt.Sprintf("%s of %s", ref.Located(), group)
	if absent, there = twinSeen(group, called, other); other == nil {
		name = called
	}
	return absent, there, name
}

// twinSeen is the evidence that the twin of an object is absent, or else that it is there: only the
// first is of something that is lacked.
func twinSeen(group, called string, other *unstructured.Unstructured) (absent, there []v1alpha1.Observation) {
	switch {
	case other == nil:
		return core.Seen("it is called after %s, which has the kind too, and there is no %s", group, called), nil
	case other.GetDeletionTimestamp() != nil:
		return nil, core.Seen("it is called after %s, which has the kind too, and %s is being deleted as well", group, called)
	}
	return nil, core.Seen("it is called after %s, which has the kind too, and %s is there", group, called)
}
