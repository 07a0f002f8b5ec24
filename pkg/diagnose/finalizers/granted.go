package finalizers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// refNotPermitted is the reason of a condition of an object that names another in another
// namespace, where no grant allows it (https://gateway-api.sigs.k8s.io/api-types/referencegrant).
const refNotPermitted = "RefNotPermitted"

// ungranted is for an object of which a condition says that it may not refer to another namespace,
// where none of the grants that its family has allows it there: whoever cleans up may ask for one
// first, as Kong did (https://github.com/Kong/kong-operator/issues/5228).
func (e dependencies) ungranted(ctx context.Context, o *unstructured.Unstructured) need {
	if !slices.ContainsFunc(status.Conditions(o), func(c status.Condition) bool {
		return c.Status == "False" && c.Reason == refNotPermitted
	}) {
		return need{}
	}
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	for _, n := range namesIn(spec, "spec") {
		if n.namespace == "" || n.namespace == o.GetNamespace() || n.isMade() {
			continue
		}
		for _, r := range e.Catalog.Resources {
			if !strings.HasSuffix(r.Kind, "ReferenceGrant") || r.Group != o.GroupVersionKind().Group &&
				!cluster.OfOneDomain(r.Group, o.GroupVersionKind().Group) {
				continue
			}
			list, err := e.Reader.ListObjects(ctx, r.GroupResource(), n.namespace, cluster.Selection{})
			if err != nil || slices.ContainsFunc(list, func(grant *unstructured.Unstructured) bool { return grants(grant, o) }) {
				continue // and the reader has noted the gap
			}
			return need{mend: "make one", what: fmt.Sprintf("a %s in namespace %s, of which there is none for a %s of namespace %s",
				r.Kind, n.namespace, o.GetKind(), o.GetNamespace()),
				seen: core.ObservedAt(cluster.Place(o, n.field), fmt.Sprintf("its %s names %s in namespace %s, and no %s there is for a %s of "+
					"namespace %s", n.field, n.name, n.namespace, r.Kind, o.GetKind(), o.GetNamespace()))}
		}
	}
	return need{}
}

// grants reports whether a grant is for objects like one, wherever they refer to.
func grants(grant, o *unstructured.Unstructured) bool {
	from, _, _ := unstructured.NestedSlice(grant.Object, "spec", "from")
	return slices.ContainsFunc(from, func(item any) bool {
		m, _ := item.(map[string]any)
		return status.Text(m, "kind") == o.GetKind() && status.Text(m, "namespace") == o.GetNamespace()
	})
}
