package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// mostNamed is how many of the objects that the spec of one names are looked for.
const mostNamed = 4

// named is what was seen of the objects that the spec and the labels of a custom resource name by
// the conventions of the API, and that whoever cleans up after it may need. Absent are those that
// are proven not to exist; so are those that an object of its own group names in turn, which it
// names: the connection to a server that is gone. What is written for the object is left out. First
// is the first.
//
// Failing are those of the group that are there, and say themselves that they are not well or have
// pods that do not run; and leaving those that are being deleted as well, which may wait for the
// object in turn. Unseen are the names in references of which nobody knows the kind, and that nothing
// in the namespace has.
type named struct {
	absent, failing, unseen []v1alpha1.Observation
	first                   v1alpha1.ObjectRef
	leaving                 []namedObject
	// unmatched says that the first is named in a version that is not served.
	unmatched bool
}

func (e dependencies) whatItNames(ctx context.Context, o *unstructured.Unstructured) (all named) {
	// What a built-in object names is the business of Kubernetes, but for the class of an Ingress, by
	// which controllers choose.
	if cluster.BuiltIn(o.GroupVersionKind().Group) && o.GetKind() != "Ingress" || o.GetDeletionTimestamp() == nil {
		return all
	}
	absent, there, unknown := e.looked(ctx, o)
	for _, n := range absent[:min(len(absent), 1)] {
		all.first, all.unmatched = n.ref, strings.Contains(n.unserved, "/")
	}
	for _, n := range unknown {
		if e.nothingCalled(o.GetNamespace(), n.name) {
			all.unseen = append(all.unseen, core.ObservedAt(core.From(o, n.field),
				fmt.Sprintf("its %s is %s, and nothing in namespace %s is called so", n.field, n.name, o.GetNamespace()))...)
		}
	}
	for _, n := range absent {
		says := fmt.Sprintf("its %s names %s, which does not exist", n.field, core.Named(n.ref))
		if n.bare {
			says = fmt.Sprintf("its %s is %s, and there is no %s of that name", n.field, n.ref.Name, n.ref.Kind)
			if n.ref.Namespace != "" {
				says += " in namespace " + n.ref.Namespace
			}
		} else if n.unserved != "" {
			says = fmt.Sprintf("its %s names %s, and the cluster serves no %s of %s", n.field, core.Named(n.ref), n.ref.Kind,
				n.unserved)
		}
		all.absent = append(all.absent, core.ObservedAt(core.From(o, n.field), says)...)
	}
	for _, by := range there {
		if by.object.GroupVersionKind().Group != o.GroupVersionKind().Group {
			continue
		}
		names := fmt.Sprintf("its %s names %s", by.field, core.Named(by.ref))
		if by.object.GetDeletionTimestamp() != nil {
			all.leaving = append(all.leaving, by)
			all.failing = append(all.failing, core.ObservedAt(core.From(by.object, "metadata.deletionTimestamp"),
				names+", which is being deleted as well"+behind(by.object))...)
		} else if field, says := e.unwell(by.object); says != "" {
			all.failing = append(all.failing, core.ObservedAt(core.From(by.object, field), names+", of which "+says)...)
		}
		all.failing = append(all.failing, e.ownDown(ctx, by.object, names+", which")...)
		absent, _, _ := e.looked(ctx, by.object)
		for _, n := range absent {
			if n.bare || n.unserved != "" {
				continue
			}
			all.absent = append(all.absent, core.ObservedAt(core.From(by.object, n.field),
				fmt.Sprintf("its %s names %s, whose %s names %s, which does not exist", by.field, core.Named(by.ref),
					n.field, core.Named(n.ref)))...)
		}
	}
	return all
}

// unwell is what an object says of itself that is not well, as a clause, and where: a condition
// that fails, or the stage in which it is. It is empty if it says nothing of that.
func (e dependencies) unwell(o *unstructured.Unstructured) (field, says string) {
	if failing := status.Failing(o); len(failing) > 0 {
		return failing[0].Field, strings.Replace(e.Quoted(failing[0]), "its ", "", 1)
	}
	if stage := status.Stage(o); status.IsUnsettled(stage.Text) {
		return stage.Field, fmt.Sprintf("%s is %s", stage.Field, core.Brief(stage.Text))
	}
	return "", ""
}

// behind says that the controller of an object has not seen its last generation, which a deletion
// raises too (k8s.io/apiserver/pkg/registry/rest/delete.go, BeforeDelete): who goes by that waits
// for ever, as KubeBlocks did (https://github.com/apecloud/kubeblocks/issues/7981).
func behind(o *unstructured.Unstructured) string {
	seen, said, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if !said || seen >= o.GetGeneration() {
		return ""
	}
	return fmt.Sprintf(" (its status.observedGeneration is %d, its generation %d)", seen, o.GetGeneration())
}

// namedObject is an object that a field names; nil if it is proven to be absent. That of a bare
// field may be the name of something outside the cluster, or of another kind. Unserved is the group
// of which the cluster serves no such kind, or the version in which it does not serve it.
type namedObject struct {
	field    string
	ref      v1alpha1.ObjectRef
	object   *unstructured.Unstructured
	bare     bool
	unserved string
}

// nothingCalled reports whether a namespace of which all is listed has nothing of a name.
func (e dependencies) nothingCalled(namespace, name string) bool {
	if namespace == "" || len(e.Gaps) > 0 {
		return false
	}
	for id := range e.Graph.InNamespace(namespace) {
		if e.Graph.Name(id) == name {
			return false
		}
	}
	return true
}

// looked are the objects that the spec and the labels of a custom resource name: those that are
// absent, those that are there, and the references of which nobody knows the kind.
func (e dependencies) looked(ctx context.Context, o *unstructured.Unstructured) (absent, there []namedObject,
	unknown []namedIn) {
	asked := 0
	for _, n := range slices.Concat(namesOf(o), credentials(o), e.namedInLabels(o)) {
		if cluster.BuiltIn(o.GroupVersionKind().Group) && n.stem != "ingressclass" {
			continue // a Secret of an Ingress is not what is needed to clean up
		}
		r, known := e.kindNamed(o.GroupVersionKind().Group, n)
		if !known && n.isTyped() && !n.loose && !n.isMade() && !e.MayBeServed(n.group) {
			ref := v1alpha1.ObjectRef{Kind: n.kind, Namespace: n.namespace, Name: n.name}
			absent = append(absent, namedObject{n.field, ref, nil, false, n.group})
			continue
		}
		if known && e.unmatched(o, n, r) {
			absent = append(absent, namedObject{n.field, n.refTo(r, o), nil, false, n.apiVersion})
			continue
		}
		guessed := false
		if !known {
			r, known = e.kindOwning(o, n)
		}
		if !known {
			r, guessed = e.kindLike(o.GroupVersionKind().Group, n)
		}
		if !known && !guessed {
			r, guessed = e.kindBefore(o, n)
		}
		within := false
		if !known && !guessed {
			r, within = e.kindWithin(o, n)
		}
		bare := n.bare && (known && isBareKind(o.GroupVersionKind().GroupKind(), r, n.stem) ||
			guessed && (n.several || alikeBut(r.Kind, o.GetKind(), n.stem)))
		if !known && !guessed && !within {
			r, known = e.kindMissed(o, n)
			bare = known
		}
		placed := within && n.placesAt(r)
		if n.loose && !bare || n.isMade() && !placed && !e.beginsWith(o, n) || !known && !guessed && !within ||
			asked == mostNamed {
			if !known && !guessed && !within && n.isReference() && len(unknown) < mostNamed {
				unknown = append(unknown, n)
			}
			continue
		}
		ref := n.refTo(r, o)
		if r.Namespaced && ref.Namespace == "" || slices.ContainsFunc(slices.Concat(absent, there), func(by namedObject) bool { return by.ref == ref }) {
			continue
		}
		asked++
		object, err := e.Reader.GetObject(ctx, schema.GroupResource{Group: r.Group, Resource: r.Resource},
			ref.Namespace, ref.Name)
		switch {
		case err != nil, object == nil && (within && !placed || guessed && !n.mayMean(r, o.GetKind())):
		case placed && object == nil && r.Namespaced && !e.Absent(ctx, r.Type, core.RefTo(r.Type, "", n.name)):
		case object != nil && object.GetUID() == o.GetUID(): // the username of a user of that name
		case object == nil:
			absent = append(absent, namedObject{n.field, ref, nil, bare || guessed || placed, ""})
		default:
			there = append(there, namedObject{n.field, ref, object, bare, ""})
		}
	}
	return absent, there, unknown
}

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
	ref := core.RefTo(r.Type, "", n.name)
	if r.Namespaced {
		ref.Namespace = cmp.Or(n.namespace, beside.GetNamespace())
	}
	return ref
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
				n.apiVersion = status.Text(v, "apiVersion")
				n.group = cmp.Or(graph.Ref{APIVersion: n.apiVersion}.Group(), status.Text(v, "apiGroup"),
					status.Text(v, "group"))
				if slices.Contains([]string{"ConfigMap", "Secret"}, n.kind) && strings.HasSuffix(lower, "from") { // varsFrom
					n.loose = false
				}
				n.field += ".name"
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
// its end; a label beside it can say the namespace, as fleet.cattle.io/bundle-namespace does. Named
// like that is the Deployment of the operator to which others leave the object, as Jaeger's do
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
		if !named || !validName(o.GetLabels()[key]) {
			continue
		}
		var means []cluster.Resource
		for _, r := range e.Catalog.Resources {
			if (r.Group == domain || strings.HasSuffix(r.Group, "."+domain)) && r.Kind != o.GetKind() &&
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
// templates of pods are the business of their own controllers.
func (n namedIn) isMade() bool {
	for key := range strings.SplitSeq(strings.ToLower(n.field), ".") {
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
	id, listed := e.Graph.Lookup(string(o.GetUID()))
	if !listed {
		return false
	}
	owns := false
	for edge := range e.Graph.Dependents(id) {
		if e.Graph.DeletionTimestamp(edge.Dependent) != 0 {
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
