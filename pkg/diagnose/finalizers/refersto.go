package finalizers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// eachField calls do with each field of a value, however deep it stands: with what it is a field of,
// with its key, and with what it has.
func eachField(value any, do func(of map[string]any, key string, item any)) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			eachField(item, do)
		}
	case map[string]any:
		for key, item := range v {
			do(v, key, item)
			eachField(item, do)
		}
	}
}

// refersTo reports whether an object refers to a name, and in which namespace: that which stands
// beside the name, or its own. It is false where it can be one of several.
func refersTo(o *unstructured.Unstructured, name string) (namespace string, ok bool) {
	namespaces := map[string]bool{}
	annotations := o.GetAnnotations()
	for key, value := range annotations {
		if value == name {
			namespaces[cmp.Or(beside(key, func(key string) string { return annotations[key] }), o.GetNamespace())] = true
		}
	}
	for key, value := range o.Object {
		if key != "metadata" && key != "status" {
			eachField(value, func(of map[string]any, key string, item any) {
				if item == name {
					namespaces[cmp.Or(beside(key, func(key string) string { return status.Text(of, key) }), o.GetNamespace())] = true
				}
				if namespace := before(item, name); namespace != "" {
					namespaces[namespace] = true
				}
			})
		}
	}
	if len(namespaces) != 1 {
		return "", false
	}
	for only := range namespaces {
		namespace = only
	}
	return namespace, true
}

// fieldOfBoth is the field of a map, or of a part of it, in which a namespace and a name stand in one
// text; empty if there is none.
func fieldOfBoth(value any, path, name string) string {
	m, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if before(m[key], name) != "" {
			return path + "." + key
		}
		if field := fieldOfBoth(m[key], path+"."+key, name); field != "" {
			return field
		}
	}
	return ""
}

// before is the namespace that a text has before a name, as Rancher writes both with a colon
// (https://github.com/rancher/rancher/issues/25173) and others with a slash; empty if it is no such text.
func before(item any, name string) string {
	text, _ := item.(string)
	namespace, _ := strings.CutSuffix(text, name)
	if n := len(namespace) - 1; n > 0 && n < len(text)-1 && (namespace[n] == ':' || namespace[n] == '/') &&
		len(validation.IsDNS1123Label(namespace[:n])) == 0 {
		return namespace[:n]
	}
	return ""
}

// beside is the namespace that stands beside a name, by the key of that: namespace beside name or
// another key, secretNamespace beside secretName, deletion-secret-namespace beside
// deletion-secret-name.
func beside(key string, text func(key string) string) string {
	if stem, ok := strings.CutSuffix(key, "ame"); ok {
		if namespace := text(stem + "amespace"); namespace != "" {
			return namespace
		}
	}
	return text("namespace")
}
