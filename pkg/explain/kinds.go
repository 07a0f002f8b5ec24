package explain

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// kindInfo is what a CustomResourceDefinition says of its kind.
type kindInfo struct {
	categories    []string
	clusterScoped bool
}

// describeKinds reads the CustomResourceDefinitions among some objects, by the kinds that they
// define.
func describeKinds(objects []*unstructured.Unstructured) map[graph.KindPattern]kindInfo {
	kinds := map[graph.KindPattern]kindInfo{}
	for _, o := range objects {
		if groupOf(o) != "apiextensions.k8s.io" || o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(o.Object, "spec", "scope")
		categories, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "names", "categories")
		kinds[nameKind(group, kind)] = kindInfo{categories, scope == "Cluster"}
	}
	return kinds
}

// clusterScopedKinds are those of Kubernetes that links name and that have no namespace. Without a
// server nothing else says so.
var clusterScopedKinds = []graph.KindPattern{
	"v1/Namespace", "v1/Node", "v1/PersistentVolume", "rbac.authorization.k8s.io/ClusterRole",
	"rbac.authorization.k8s.io/ClusterRoleBinding",
	"apiextensions.k8s.io/CustomResourceDefinition", "apiregistration.k8s.io/APIService", "admissionregistration.k8s.io/*",
	"storage.k8s.io/StorageClass",
	"storage.k8s.io/CSIDriver", "scheduling.k8s.io/PriorityClass", "networking.k8s.io/IngressClass",
	"snapshot.storage.k8s.io/VolumeSnapshotContent",
}

// clusterScoped says whether what a reference names is known to have no namespace.
func (t *tester) clusterScoped(n link.Named) bool {
	return t.kinds[nameKind(n.Group, n.Kind)].clusterScoped ||
		slices.ContainsFunc(clusterScopedKinds, func(p graph.KindPattern) bool { return p.Matches(n.Group, n.Kind) })
}

// nameKind names a kind as packs do: v1/Pod, apps/Deployment.
func nameKind(group, kind string) graph.KindPattern {
	return graph.KindPattern(cmp.Or(group, "v1") + "/" + kind)
}

func kindOf(o *unstructured.Unstructured) graph.KindPattern { return nameKind(groupOf(o), o.GetKind()) }

func groupOf(o *unstructured.Unstructured) string { return o.GroupVersionKind().Group }
