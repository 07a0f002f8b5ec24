package status

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var (
	// protects is how a field is called that is on where an object is not to be deleted.
	protects = regexp.MustCompile(`^(?:enable)?(?:deletion|delete|termination)protect(?:ion|ed)(?:enabled)?$|^prevent(?:deletion|delete|destroy)$`)
	// forbids is what a policy says for that, its words without what parts them: DoNotTerminate of
	// KubeBlocks (https://github.com/apecloud/kubeblocks/issues/1422).
	forbids = regexp.MustCompile(`^(?:do)?not(?:terminate|delete|destroy)$|^prevent(?:deletion|delete|destroy)?$`)
	// policyOf is how a field is called that says what happens when the object is deleted.
	policyOf = regexp.MustCompile(`^(?:termination|deletion|delete)policy$`)
)

// Protected returns the field of a spec, or of a part of it, that says that the object is not to be
// deleted, and what it says. It is empty if there is none.
func Protected(o *unstructured.Unstructured) Said {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	if s := protectedIn(spec, "spec"); s.Text != "" {
		return s
	}
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		part, _ := spec[key].(map[string]any)
		if s := protectedIn(part, "spec."+key); s.Text != "" {
			return s
		}
	}
	return Said{}
}

func protectedIn(m map[string]any, path string) Said {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch lower, text := strings.ToLower(key), strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(Text(m, key))); {
		case protects.MatchString(lower) && (m[key] == true || text == "true" || text == "enabled"):
			if text == "" {
				return Said{path + "." + key, "true"}
			}
			return Said{path + "." + key, Text(m, key)}
		case policyOf.MatchString(lower) && forbids.MatchString(text):
			return Said{path + "." + key, Text(m, key)}
		}
	}
	return Said{}
}
