package status

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Served returns the types that a CustomResourceDefinition has the server serve, one for each
// version.
func Served(crd *unstructured.Unstructured) []graph.Type {
	var all []graph.Type
	for _, v := range versions(crd) {
		if served, _ := v["served"].(bool); served && Text(v, "name") != "" {
			all = append(all, graph.Type{
				Group: Nested(crd, "spec", "group"), Version: Text(v, "name"), Resource: Nested(crd, "spec", "names", "plural"),
				Kind: Nested(crd, "spec", "names", "kind"), Namespaced: Nested(crd, "spec", "scope") != "Cluster",
			})
		}
	}
	return all
}

// StorageVersion returns the version in which a CustomResourceDefinition has its objects stored.
func StorageVersion(crd *unstructured.Unstructured) string {
	for _, v := range versions(crd) {
		if stored, _ := v["storage"].(bool); stored {
			return Text(v, "name")
		}
	}
	return ""
}

func versions(crd *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	all := make([]map[string]any, len(list))
	for i, v := range list {
		all[i], _ = v.(map[string]any)
	}
	return all
}
