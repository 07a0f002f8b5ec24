package finalizers

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// namesOf finds what the spec of an object names, and of a custom resource what other fields do
// beside it, as the data of a HealthRecord (https://github.com/syntasso/kratix/issues/628).
func namesOf(o *unstructured.Unstructured) (all []namedIn) {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	all = namesIn(spec, "spec")
	for _, key := range slices.Sorted(maps.Keys(o.Object)) {
		if m, is := o.Object[key].(map[string]any); is && !slices.Contains([]string{"metadata", "spec", "status"}, key) {
			all = append(all, namesIn(m, key)...)
		}
	}
	return all
}

// credentials are the Secrets with credentials that a status names, as those of backups do: what
// was used is needed to clean up as well. What else a status names are results.
func credentials(o *unstructured.Unstructured) []namedIn {
	told, _, _ := unstructured.NestedMap(o.Object, "status")
	return slices.DeleteFunc(namesIn(told, "status"),
		func(n namedIn) bool { return !strings.HasSuffix(n.stem, credentialsKey) })
}

// credentialsKey is the end of a key, in lower case, that names such a Secret, without more.
const credentialsKey = "credentialssecret"

// namedIn is an object that a field names. The stem is the lower-case key of the field without what
// says that it is a name or a reference; the kind and its group are empty if the field says none.
// One that is addressed is of the core. One that is loose is in a list, but for one of what values
// come from, or in a field whose key does not say that it is a name; such a field is bare if it is
// a text at the top of the spec, and several if its key has several words, as pgCluster has.
type namedIn struct {
	field, stem, group, kind, namespace, name string
	// apiVersion is what a reference says itself.
	apiVersion                      string
	addressed, loose, bare, several bool
}

// refTo is the object that is named, of a type: beside the one for which it is, unless the field
// says another namespace.
func (n namedIn) refTo(r cluster.Resource, beside *unstructured.Unstructured) v1alpha1.ObjectRef {
	return core.RefTo(r.Type, cmp.Or(n.namespace, beside.GetNamespace()), n.name)
}

// isFree reports whether it stands in data of the object beside spec, status and labels: that may be
// anything, and what is called a Secret there a secret of somebody's own.
func (n namedIn) isFree() bool {
	top, _, _ := strings.Cut(n.field, ".")
	return !slices.Contains([]string{"spec", "status", "metadata"}, top)
}

// namesIn finds what the fields of a map name, in the order of their paths.
func namesIn(m map[string]any, path string) (all []namedIn) {
	if optional, _ := m["optional"].(bool); optional {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lower := strings.ToLower(key)
		items, several := m[key].([]any)
		if !several {
			items = []any{m[key]}
		}
		for i, item := range items {
			n := namedIn{field: path + "." + key, loose: several && !strings.HasSuffix(lower, "refs") && !strings.HasSuffix(lower, "references")}
			if several {
				n.field += fmt.Sprintf("[%d]", i)
			}
			switch v := item.(type) {
			case string:
				if stem, is := stemOf(lower, "name", "reference", "ref"); stem != "" && validName(v) {
					is = is || strings.HasSuffix(lower, "configmap") // which is no value of a text: providedConfigMap of Solr
					n.stem, n.name, n.loose = stem, v, several || !is && !strings.HasSuffix(stem, credentialsKey)
					n.bare = !is && !several && path == "spec"
					n.several = key != lower
					n.namespace = beside(key, func(k string) string { return status.Text(m, k) })
					all = append(all, n)
				}
				if at, is := addressIn(v, n.field); is && (n.loose || n.name == "") {
					all = append(all, at)
				}
			case map[string]any:
				inside := n.field
				n.name, n.kind, n.namespace = status.Text(v, "name"), status.Text(v, "kind"), status.Text(v, "namespace")
				at := "name"
				if n.kind != "" && n.name == "" { // as the backing service of a ServiceBindingRequest
					n.name, at = status.Text(v, "resourceRef"), "resourceRef"
				}
				n.apiVersion = status.Text(v, "apiVersion")
				n.group = cmp.Or(graph.Ref{APIVersion: n.apiVersion}.Group(), status.Text(v, "apiGroup"),
					status.Text(v, "group"))
				if slices.Contains([]string{"ConfigMap", "Secret"}, n.kind) && strings.HasSuffix(lower, "from") { // varsFrom
					n.loose = false
				}
				n.field += "." + at
				n.stem, _ = stemOf(lower, "reference", "ref", "selector", "key")
				if (validName(n.name) || n.name != "" && n.isTyped()) && v["optional"] != true {
					all = append(all, n)
				}
				all = append(all, namesIn(v, inside)...)
			}
		}
	}
	return all
}

// namedInLabels are the objects that labels of an object name, by a key that says of which kind
// they are and that it has a name: cluster.x-k8s.io/cluster-name. The domain is their API group, or
// its end; a key that says only the kind has the whole of it, as
// cluster.open-cluster-management.io/placement
// (https://github.com/Kuadrant/multicluster-gateway-controller/issues/420). a label beside it can
// say the namespace, as fleet.cattle.io/bundle-namespace does. Named like that is the Deployment of
// the operator to which others leave the object, as Jaeger's do
// (https://github.com/jaegertracing/jaeger-operator/pull/571).
func (e dependencies) namedInLabels(o *unstructured.Unstructured) (all []namedIn) {
	for _, key := range slices.Sorted(maps.Keys(o.GetLabels())) {
		domain, rest, _ := strings.Cut(key, "/")
		if value := o.GetLabels()[key]; domain == o.GroupVersionKind().Group && rest == "operated-by" {
			if namespace, name, both := strings.Cut(value, "."); both {
				all = append(all, namedIn{field: "metadata.labels[" + key + "]", group: "apps", kind: "Deployment",
					namespace: namespace, name: name})
			}
			continue
		}
		kind, named := strings.CutSuffix(rest, "-name")
		// One that is called after the kind alone can have been given on by an owner, or be made up
		// for what stands in the object itself.
		own := !named && len(o.GetOwnerReferences()) == 0 && o.GetLabels()[key] != o.GetName()
		if !named && !own || !validName(o.GetLabels()[key]) {
			continue
		}
		var means []cluster.Resource
		for _, r := range e.Catalog.Resources {
			if (r.Group == domain || !own && strings.HasSuffix(r.Group, "."+domain)) && r.Kind != o.GetKind() &&
				strings.EqualFold(r.Kind, strings.ReplaceAll(kind, "-", "")) {
				means = append(means, r)
			}
		}
		if len(means) == 1 {
			all = append(all, namedIn{field: "metadata.labels[" + key + "]", group: means[0].Group, kind: means[0].Kind,
				name: o.GetLabels()[key], namespace: o.GetLabels()[strings.TrimSuffix(key, "-name")+"-namespace"]})
		}
	}
	return all
}

// ofService is the address of a Service in the cluster, perhaps after the name of a pod of it, and
// ofPod that of a pod as CSI-Addons writes it.
var (
	ofService = regexp.MustCompile(`([a-z0-9][-a-z0-9]*)\.([a-z0-9][-a-z0-9]*)\.svc(?:[.:/]|$)`)
	ofPod     = regexp.MustCompile(`^pod://([a-z0-9][-a-z0-9.]*)\.([a-z0-9][-a-z0-9]*)(?::[0-9]+)?$`)
)

// addressIn is the Service or the pod whose address a text has, false if it has none. Of several
// Services it is none: one of them may do. Neither is one of a text of several words, such as the
// values of a chart, which can be for another cluster.
func addressIn(text, field string) (namedIn, bool) {
	if strings.ContainsAny(text, " \t\n") {
		return namedIn{}, false
	}
	if m := ofPod.FindStringSubmatch(text); m != nil {
		return namedIn{field: field, kind: "Pod", name: m[1], namespace: m[2], addressed: true}, true
	}
	if all := ofService.FindAllStringSubmatch(text, 2); len(all) == 1 {
		return namedIn{field: field, kind: "Service", name: all[0][1], namespace: all[0][2], addressed: true}, true
	}
	return namedIn{}, false
}

// stemOf is a key without the endings, in their order; false if it has none of them.
func stemOf(key string, endings ...string) (stem string, had bool) {
	for _, ending := range endings {
		var cut bool
		key, cut = strings.CutSuffix(key, ending)
		had = had || cut
	}
	return key, had
}

// isMade reports whether a field names what is written for the object, and not what it needs. The
// templates of pods are the business of their own controllers, and the targetRef of a policy names what
// is there (https://github.com/Kuadrant/kuadrant-controller/pull/195).
func (n namedIn) isMade() bool {
	for key := range strings.SplitSeq(strings.ToLower(n.field), ".") {
		if n.isTyped() && strings.HasPrefix(key, "targetref") {
			continue
		}
		if strings.Contains(key, "template") || slices.ContainsFunc([]string{"write", "target", "output", "publish"},
			func(word string) bool { return strings.HasPrefix(key, word) }) {
			return true
		}
	}
	return false
}

// beginsWith reports whether an object has to read a template that it names before it deletes the
// first of what it owns: it owns something, and nothing of that is being deleted
// (https://github.com/kubernetes-sigs/cluster-api/issues/13536).
func (e dependencies) beginsWith(o *unstructured.Unstructured, n namedIn) bool {
	if !n.isTyped() || !strings.HasSuffix(n.kind, "Template") {
		return false
	}
	owns := false
	for id := range e.Dependents(o) {
		if e.Graph.DeletionTimestamp(id) != 0 {
			return false
		}
		owns = true
	}
	return owns
}

// isReference reports whether a field is a reference by its key, which says neither the kind nor
// another namespace: providerRef.
func (n namedIn) isReference() bool {
	return strings.HasSuffix(strings.ToLower(n.field), "ref.name") && n.kind == "" && n.group == "" && n.namespace == "" &&
		!n.loose && !n.isMade()
}

// isTyped reports whether a reference says of which kind and group the object is: that nobody
// serves the kind can be seen whatever the name is. A map under another key can be a manifest.
func (n namedIn) isTyped() bool {
	field := strings.ToLower(n.field)
	return n.kind != "" && n.group != "" &&
		(strings.HasSuffix(field, "ref.name") || strings.HasSuffix(field, "reference.name"))
}

func validName(name string) bool { return name != "" && len(validation.IsDNS1123Subdomain(name)) == 0 }
