package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// mostNamed is how many of the objects that the spec of one names are looked for.
const mostNamed = 4

// namedAbsent are the Secrets, ConfigMaps and ServiceAccounts that the spec of a custom resource names
// by the conventions of the API and that are proven to be absent: whoever cleans up after it may need
// them. What the object has made for itself is left out.
func (e *Examiner) namedAbsent(ctx context.Context, o *unstructured.Unstructured) (seen []v1alpha1.Observation) {
	if cluster.BuiltIn(o.GroupVersionKind().Group) || o.GetDeletionTimestamp() == nil {
		return nil
	}
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	looked := 0
	for _, n := range namesIn(spec, "spec", o.GetNamespace()) {
		r, served := e.KindIn("", n.kind)
		if !served || n.namespace == "" || looked == mostNamed || e.isKind(n.key) {
			continue
		}
		looked++
		if ref := core.RefTo(r.Type, n.namespace, n.name); e.Absent(ctx, r.Type, ref) {
			seen = append(seen, core.ObservedAt(core.From(o, n.field),
				fmt.Sprintf("its %s names %s, which does not exist", n.field, core.Named(ref)))...)
		}
	}
	return seen
}

// isKind says whether a key is that of a kind that only ends like one of the core: randomSecret of
// RandomSecret.
func (e *Examiner) isKind(key string) bool {
	return slices.ContainsFunc(e.Catalog.Resources, func(r cluster.Resource) bool {
		return r.Group != "" && strings.EqualFold(r.Kind, key)
	})
}

// namedIn is an object of the core that a field names; the key is that of the field, without what says
// that it is a reference.
type namedIn struct{ field, key, kind, namespace, name string }

// namesIn finds what the fields of a map name, in the order of their paths. The templates of pods are
// the business of their own controllers.
func namesIn(m map[string]any, path, namespace string) (all []namedIn) {
	if optional, _ := m["optional"].(bool); optional {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lower := strings.ToLower(key)
		if strings.Contains(lower, "template") || isMade(lower) {
			continue
		}
		field := path + "." + key
		switch v := m[key].(type) {
		case string:
			if kind := kindNamed(lower); kind != "" && validName(v) {
				in := cmp.Or(beside(key, func(k string) string { return status.Text(m, k) }), namespace)
				all = append(all, namedIn{field, strings.TrimSuffix(lower, "name"), kind, in, v})
			}
		case map[string]any:
			name := status.Text(v, "name")
			if stem, kind := kindReferred(lower); kind != "" && validName(name) && v["optional"] != true {
				all = append(all, namedIn{field + ".name", stem, kind, cmp.Or(status.Text(v, "namespace"), namespace), name})
				continue
			}
			all = append(all, namesIn(v, field, namespace)...)
		case []any:
			for i, item := range v {
				if of, is := item.(map[string]any); is {
					all = append(all, namesIn(of, fmt.Sprintf("%s[%d]", field, i), namespace)...)
				}
			}
		}
	}
	return all
}

// kindNamed is the kind of what a text names, by the lower-case key of the field; empty if it says
// none.
func kindNamed(key string) string {
	switch {
	case strings.HasSuffix(key, "serviceaccountname"):
		return "ServiceAccount"
	case strings.HasSuffix(key, "secretname"):
		return "Secret"
	case strings.HasSuffix(key, "configmapname"):
		return "ConfigMap"
	}
	return ""
}

// kindReferred is the kind of what a reference names, by the lower-case key of the field, and that key
// without what says that it is a reference.
func kindReferred(key string) (stem, kind string) {
	stem = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, "ref"), "selector"), "key")
	switch {
	case strings.HasSuffix(stem, "serviceaccount"):
		kind = "ServiceAccount"
	case strings.HasSuffix(stem, "secret"):
		kind = "Secret"
	case strings.HasSuffix(stem, "configmap"):
		kind = "ConfigMap"
	}
	return stem, kind
}

// isMade says whether a field names what is written for the object, and not what it needs.
func isMade(key string) bool {
	for _, word := range []string{"write", "target", "output", "publish"} {
		if strings.HasPrefix(key, word) {
			return true
		}
	}
	return false
}

func validName(name string) bool { return name != "" && len(validation.IsDNS1123Subdomain(name)) == 0 }
