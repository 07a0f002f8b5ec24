package finalizers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// selectsNone is for a custom resource that, by labels in its spec, selects none of the
// objects of its API group to which it belongs, as the instanceSelector of a KeycloakRealm selects
// a Keycloak (https://github.com/keycloak/keycloak-operator/issues/446): those of the kind with
// which its own begins, or after which the field is called.
func (e dependencies) selectsNone(ctx context.Context, o *unstructured.Unstructured) need {
	group := o.GroupVersionKind().Group
	if cluster.BuiltIn(group) || o.GetDeletionTimestamp() == nil || e.Many {
		return need{}
	}
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		stem, is := stemOf(strings.ToLower(key), "selector")
		matching, _, _ := unstructured.NestedStringMap(spec, key, "matchLabels")
		if !is || len(matching) == 0 {
			continue
		}
		for _, r := range e.Catalog.Resources {
			begins := strings.HasPrefix(o.GetKind(), r.Kind) && r.Kind != o.GetKind() && stem == "instance"
			if r.Group != group || !begins && !strings.EqualFold(stem, r.Kind) {
				continue
			}
			selector := labels.SelectorFromSet(matching).String()
			all, err := e.Reader.ListObjects(ctx, r.GroupResource(), "", cluster.Selection{Labels: selector})
			if err != nil || len(all) > 0 {
				continue
			}
			return need{what: "a " + r.Kind + " that the object selects",
				mend: "make one, or remove the finalizer where what it is to clean up went with the last of them,",
				seen: core.ObservedAt(cluster.Place(o, "spec."+key), fmt.Sprintf("its spec.%s selects %s with %s, and there is none",
					key, r.Kind, selector))}
		}
	}
	return need{}
}
