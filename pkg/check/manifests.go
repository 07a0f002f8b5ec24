package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Local checks manifests by what they say of each other alone. Namespace is that of the objects
// that name none.
func Local(manifests []selection.Manifest, namespace string) *v1alpha1.CheckReport {
	m := newManifests(manifests, namespace, append(builtinTypes(), definedTypes(manifests)...))
	report := m.report()
	report.Findings = append(report.Findings, m.structure(nil)...)
	taken := m.taken(report)
	for i := range m.all {
		for j, r := range m.refs[i] {
			switch {
			case taken[[2]int{i, j}]:
			case m.inFiles(i, r) >= 0:
				report.Findings = append(report.Findings, m.unasked(i, j, OwnerInFile, "owner %s is a manifest, too",
					"if the owner does not exist yet, the server gives it another uid than the reference has, and the collector deletes the dependent",
					applyFirst))
			default:
				report.Findings = append(report.Findings, m.unasked(i, j, OwnerNotChecked,
					"whether owner %s exists was not checked",
					"unknown: if the owner does not exist, the collector deletes the object", "Run the command without --local."))
			}
		}
	}
	m.finish(report)
	return report
}

// Manifests checks manifests against a cluster: what they say of each other, and their owners by
// live reads.
func Manifests(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, manifests []selection.Manifest,
	namespace string) (*v1alpha1.CheckReport, error) {
	served := definedTypes(manifests)
	others := map[graph.Type][]string{}
	for _, r := range catalog.Resources {
		served = append(served, r.Type)
		others[r.Type] = r.OtherVersions
	}
	m := newManifests(manifests, namespace, served)
	report := m.report()
	report.Findings = append(report.Findings, m.structure(others)...)
	builder := graph.NewBuilder()
	m.serve(builder, others)
	m.build(builder, func(int) string { return "" },
		func(_ int, r metav1.OwnerReference) (string, bool) { return string(r.UID), m.invalid(r) == "" })
	listing := &selection.Snapshot{Graph: builder.Build(), Catalog: catalog, Gaps: catalog.Gaps}
	owners, err := collect.ReadOwners(ctx, client, listing, func(graph.ID) bool { return true })
	if err != nil {
		return nil, err
	}
	taken := m.taken(report)
	live := Find(Input{Graph: listing.Graph, Gaps: catalog.Gaps, Proven: owners.Proven, Instead: owners.Instead,
		Collected: collected(catalog)})
	for _, f := range live.Findings {
		i := m.find(f.Object)
		if i < 0 || f.OwnerReference == nil || f.Index >= len(m.refs[i]) || taken[[2]int{i, f.Index}] ||
			slices.Contains(structural, Code(f.Code)) {
			continue
		}
		if owner := m.inFiles(i, m.refs[i][f.Index]); owner >= 0 &&
			(Code(f.Code) == OwnerAbsent || Code(f.Code) == OwnerReplaced) {
			f.Message += "; the manifest in " + m.all[owner].Source + " gets a uid when it is created"
			f.Remedy = applyFirst
		}
		report.Findings = append(report.Findings, m.located(i, f))
	}
	report.Gaps = append(report.Gaps, owners.Unread...)
	m.finish(report)
	return report, nil
}

// manifests are objects of files with their types and references.
type manifests struct {
	all   []selection.Manifest
	types []graph.Type // of the objects
	known []graph.Type // that are served
	names []graph.Ref
	refs  [][]metav1.OwnerReference
	// places are where the objects stand, by what names them, and by that without the namespace.
	places, anywhere map[selection.Place][]int
}

func placeOf(r graph.Ref) selection.Place {
	return selection.Place{Group: r.Group(), Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

func newManifests(all []selection.Manifest, namespace string, known []graph.Type) *manifests {
	m := &manifests{all: all, known: known, places: map[selection.Place][]int{},
		anywhere: map[selection.Place][]int{}}
	for i, manifest := range all {
		o := manifest.Object
		t := m.typeOf(o)
		at := manifest.Place(namespace, t.Namespaced)
		name := graph.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Resource: t.Resource, Namespace: at.Namespace,
			Name: o.GetName()}
		m.types, m.names, m.refs = append(m.types, t), append(m.names, name), append(m.refs, references(o))
		m.places[at] = append(m.places[at], i)
		at.Namespace = ""
		m.anywhere[at] = append(m.anywhere[at], i)
	}
	return m
}

// references are those of an object as they stand in the file, also if a field is missing.
func references(o *unstructured.Unstructured) []metav1.OwnerReference {
	list, _, _ := unstructured.NestedSlice(o.Object, "metadata", "ownerReferences")
	refs := make([]metav1.OwnerReference, len(list))
	for i, item := range list {
		fields, _ := item.(map[string]any)
		refs[i] = metav1.OwnerReference{APIVersion: status.Text(fields, "apiVersion"), Kind: status.Text(fields, "kind"),
			Name: status.Text(fields, "name"), UID: types.UID(status.Text(fields, "uid"))}
		if yes, _, _ := unstructured.NestedBool(fields, "controller"); yes {
			refs[i].Controller = new(true)
		}
		if yes, _, _ := unstructured.NestedBool(fields, "blockOwnerDeletion"); yes {
			refs[i].BlockOwnerDeletion = new(true)
		}
	}
	return refs
}

// typeOf is the type of a manifest. One that nobody serves is namespaced as far as is known.
func (m *manifests) typeOf(o *unstructured.Unstructured) graph.Type {
	gvk := o.GroupVersionKind()
	for _, t := range m.known {
		if t.Group == gvk.Group && t.Kind == gvk.Kind {
			return t
		}
	}
	return graph.Type{Group: gvk.Group, Version: gvk.Version, Resource: strings.ToLower(gvk.Kind) + "s", Kind: gvk.Kind,
		Namespaced: true}
}

// definedTypes are those of the CRDs in the files.
func definedTypes(all []selection.Manifest) []graph.Type {
	var defined []graph.Type
	for _, manifest := range all {
		o := manifest.Object
		if o.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "apiextensions.k8s.io",
			Kind: "CustomResourceDefinition"}) {
			continue
		}
		defined = append(defined, status.Served(o)...)
	}
	return defined
}

func (m *manifests) serve(b *graph.Builder, others map[graph.Type][]string) {
	for _, t := range m.known {
		b.Serve(t, others[t]...)
	}
}

// build adds the objects to a graph, with the uids that own and of give to objects and references.
// A reference to which of gives none names nothing.
func (m *manifests) build(b *graph.Builder, own func(int) string, of func(int, metav1.OwnerReference) (string, bool)) {
	listings := map[graph.Type]*graph.Listing{}
	for i, t := range m.types {
		if listings[t] == nil {
			listings[t] = b.Listing(t, "")
		}
		o := graph.Object{Namespace: m.names[i].Namespace, Name: m.names[i].Name, UID: own(i),
			Finalizers: m.all[i].Object.GetFinalizers()}
		for _, r := range m.refs[i] {
			var owner graph.OwnerReference
			if uid, ok := of(i, r); ok {
				owner = graph.ReferenceOf(r)
				owner.UID = uid
			}
			o.Owners = append(o.Owners, owner)
		}
		listings[t].Add(o)
	}
}

// structural are the codes of what files show alone.
var structural = []Code{SelfReference, OwnershipCycle, WrongScope, WrongNamespace, WrongName, WrongKind,
	SeveralControllers, DuplicateReference, InexactKind}

// structure are the findings that the files show alone: references that name an object of the files
// by its name are taken for its own, whatever uid it will have.
func (m *manifests) structure(others map[graph.Type][]string) []v1alpha1.CheckFinding {
	findings := []v1alpha1.CheckFinding{}
	for i := range m.all {
		for j, r := range m.refs[i] {
			if why := m.invalid(r); why != "" {
				f := m.begin(i, j, ReferenceInvalid)
				f.Message, f.Effect, f.Consequence, f.Remedy = why, string(Reject), "the server rejects the object",
					"Complete the reference, or remove it."
				findings = append(findings, f)
			}
		}
	}
	own := func(i int) string {
		if uid := string(m.all[i].Object.GetUID()); uid != "" {
			return uid
		}
		return fmt.Sprintf("manifest %d", i)
	}
	uids := map[types.UID]bool{}
	for _, manifest := range m.all {
		uids[manifest.Object.GetUID()] = true
	}
	delete(uids, "")
	b := graph.NewBuilder()
	m.serve(b, others)
	m.build(b, own, func(i int, r metav1.OwnerReference) (string, bool) {
		if uids[r.UID] {
			return string(r.UID), true
		}
		if at := m.inFiles(i, r); at >= 0 && m.all[at].Object.GetUID() == "" {
			return own(at), true
		}
		return string(r.UID), true
	})
	g := b.Build()
	at := map[string]int{}
	for i := range m.all {
		at[own(i)] = i
	}
	for _, f := range Find(Input{Graph: g}).Findings {
		if slices.Contains(structural, Code(f.Code)) {
			i := at[f.Object.UID]
			if r := m.refs[i][f.Index]; Code(f.Code) != DuplicateReference || r.UID != "" {
				findings = append(findings, m.located(i, f))
			}
		}
	}
	return findings
}

// invalid says why the server rejects a reference; empty if it does not.
func (m *manifests) invalid(r metav1.OwnerReference) string {
	var missing []string
	for _, field := range []struct{ name, value string }{{"apiVersion", r.APIVersion}, {"kind", r.Kind}, {"name", r.Name},
		{"uid", string(r.UID)}} {
		if field.value == "" {
			missing = append(missing, field.name)
		}
	}
	switch {
	case len(missing) > 0:
		return "the reference has no " + phrase.And(missing)
	case r.APIVersion == "v1" && r.Kind == "Event": // that of events.k8s.io may be one
		return "an Event cannot be an owner"
	}
	return ""
}

// inFiles returns the object of the files that a reference of another names: in its own namespace
// or in none, otherwise the only one elsewhere; -1 if there is none.
func (m *manifests) inFiles(of int, r metav1.OwnerReference) int {
	at := placeOf(graph.Ref{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: m.names[of].Namespace, Name: r.Name})
	for _, namespace := range []string{at.Namespace, ""} {
		at.Namespace = namespace
		if here := m.places[at]; len(here) > 0 {
			return here[0]
		}
	}
	if all := m.anywhere[at]; len(all) == 1 {
		return all[0]
	}
	return -1
}

// find returns the manifest of an object; -1 if there is none.
func (m *manifests) find(o v1alpha1.ObjectRef) int {
	if here := m.places[placeOf(o)]; len(here) > 0 {
		return here[0]
	}
	return -1
}

func (m *manifests) report() *v1alpha1.CheckReport {
	report := &v1alpha1.CheckReport{TypeMeta: v1alpha1.TypeMeta("CheckReport"), Objects: len(m.all),
		Findings: []v1alpha1.CheckFinding{}, Gaps: []v1alpha1.Gap{}}
	for _, refs := range m.refs {
		report.References += len(refs)
	}
	return report
}

// taken are the references that have a finding which leaves nothing to be said of their owners, by
// the manifest and the index.
func (m *manifests) taken(report *v1alpha1.CheckReport) map[[2]int]bool {
	all := map[[2]int]bool{}
	for _, f := range report.Findings {
		if code := Code(f.Code); f.OwnerReference != nil && code != DuplicateReference && code != SeveralControllers {
			all[[2]int{m.find(f.Object), f.Index}] = true
		}
	}
	return all
}

func (m *manifests) begin(i, j int, code Code) v1alpha1.CheckFinding {
	return m.located(i, v1alpha1.CheckFinding{Object: m.names[i],
		OwnerReference: &metav1.OwnerReference{}, Index: j, Code: string(code), Severity: string(byCode[code].Severity)})
}

// located makes a finding about a graph one about a manifest: with what the file says of the
// reference and without commands, which are for objects of a cluster.
func (m *manifests) located(i int, f v1alpha1.CheckFinding) v1alpha1.CheckFinding {
	f.Object, f.File, f.Commands = m.names[i], m.all[i].Source, []string{}
	f.Object.UID = string(m.all[i].Object.GetUID())
	if f.OwnerReference != nil {
		f.OwnerReference = m.refs[i][f.Index].DeepCopy()
	}
	if f.Instead != nil && strings.HasPrefix(f.Instead.UID, "manifest ") {
		f.Instead.UID = ""
	}
	return f
}

// applyFirst is what to do about an owner that is a manifest, too.
const applyFirst = "Apply the owner first, and set the uid that it then has."

// unasked is the finding about an owner of which nobody has asked whether it exists already. The
// message has its place.
func (m *manifests) unasked(i, j int, code Code, message, consequence, remedy string) v1alpha1.CheckFinding {
	f, r := m.begin(i, j, code), m.refs[i][j]
	f.Message = fmt.Sprintf(message, graph.Located(r.Kind, "", r.Name))
	f.Effect, f.Consequence, f.Remedy = string(Undetermined), consequence, remedy
	return f
}

// finish sorts the findings by the manifests and their references.
func (m *manifests) finish(report *v1alpha1.CheckReport) {
	slices.SortStableFunc(report.Findings, func(a, b v1alpha1.CheckFinding) int {
		if x, y := m.find(a.Object), m.find(b.Object); x != y {
			return x - y
		}
		return a.Index - b.Index
	})
	report.Complete = len(report.Gaps) == 0
}
