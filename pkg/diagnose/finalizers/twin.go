package finalizers

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// twin is for a finalizer that no pack knows, of another API group that has the kind of a custom
// resource as well: programs that move to another group have each object twice for a while, and let
// the old one go for the sake of the new
// (https://github.com/opensearch-project/opensearch-k8s-operator/issues/1417).
func (e dependencies) twin(ctx context.Context, b core.Responsible) need {
	if e.Many {
		return need{}
	}
	o, own := b.Object, b.Object.GroupVersionKind()
	group, _, slashed := strings.Cut(b.Finalizer, "/")
	r, served := e.Reader.KindIn(group, own.Kind)
	if !slashed || b.IsKnown || group == own.Group || !served || cluster.BuiltIn(own.Group) || cluster.BuiltIn(group) ||
		r.Namespaced != (o.GetNamespace() != "") {
		return need{}
	}
	ref := core.RefTo(r.Type, o.GetNamespace(), o.GetName())
	other, err := e.Reader.GetObject(ctx, r.GroupResource(), o.GetNamespace(), o.GetName())
	if err != nil {
		return need{} // and the reader has noted the gap
	}
	return lacksTwin(group, fmt.Sprintf("%s of %s", ref.Located(), group), other)
}

// lacksTwin is the need of the twin of an object. One that is there is evidence only.
func lacksTwin(group, called string, other *unstructured.Unstructured) need {
	after := "it is called after " + group + ", which has the kind too, and "
	switch {
	case other == nil:
		return need{seen: core.Seen("%sthere is no %s", after, called), what: called + ", which does not exist",
			mend: "make sure that nobody is to make it, and remove the finalizer by hand"}
	case other.GetDeletionTimestamp() != nil:
		return need{seen: core.Seen("%s%s is being deleted as well", after, called)}
	}
	return need{seen: core.Seen("%s%s is there", after, called)}
}
