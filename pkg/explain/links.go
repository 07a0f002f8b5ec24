package explain

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Links says which links the definitions find in some objects, and what a deletion does along each,
// as if these were all objects of a cluster and a user had named each of them. The categories and
// scopes of kinds are those of the CustomResourceDefinitions among the objects. It asks no server.
func Links(definitions []*link.Definition, objects []*unstructured.Unstructured) *v1alpha1.LinkTest {
	t := &tester{objects: objects, kinds: describeKinds(objects)}
	out := &v1alpha1.LinkTest{TypeMeta: v1alpha1.TypeMeta("LinkTest"), Sources: []v1alpha1.LinkSource{},
		Unreached: []string{}}
	reached := map[string]bool{}
	for _, o := range objects {
		source := v1alpha1.LinkSource{Object: graph.RefOf(o), Links: []v1alpha1.FoundLink{}}
		for _, d := range definitions {
			if !d.From.Matches(groupOf(o), o.GetKind(), t.kinds[kindOf(o)].categories) {
				continue
			}
			found, err := t.ends(d, o)
			source.Links = append(source.Links, found...)
			reached[d.ID] = reached[d.ID] || len(found) > 0
			if err != nil {
				for _, e := range answer.Flatten(err) {
					source.Errors = append(source.Errors, d.ID+": "+e.Error())
				}
			}
		}
		if len(source.Links)+len(source.Errors) > 0 {
			out.Sources = append(out.Sources, source)
		}
	}
	for _, d := range definitions {
		if !reached[d.ID] {
			out.Unreached = append(out.Unreached, d.ID)
		}
	}
	return out
}

// Parts of a folder that is tested, besides its packs.
const (
	// ObjectsDir has the objects.
	ObjectsDir = "objects"
	// LinksFile has the links that are expected, as render.LinkTest writes them.
	LinksFile = "links.txt"
)

// PackLinks tests the packs of a folder, and what is known besides, against the objects in its
// subfolder ObjectsDir. A folder without packs tests what is known. Unreached are links of the
// folder's own packs.
func PackLinks(dir string, known *finalizer.Registry) (*v1alpha1.LinkTest, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.y*ml"))
	if err != nil {
		return nil, fmt.Errorf("reading packs: %w", err)
	}
	own := &finalizer.Registry{}
	if len(files) > 0 {
		if own, err = finalizer.LoadDir(dir); err != nil {
			return nil, err
		}
	}
	objects, err := ReadObjects(os.DirFS(dir), ObjectsDir)
	if err != nil {
		return nil, fmt.Errorf("testing packs in %s: %w", dir, err)
	}
	t := Links(known.With(own).Links(), objects)
	t.Unreached = slices.DeleteFunc(t.Unreached, func(id string) bool {
		return !slices.ContainsFunc(own.Links(), func(d *link.Definition) bool { return d.ID == id })
	})
	return t, nil
}

// ExpectedLinks returns what the file LinksFile of a folder has; false if there is none.
func ExpectedLinks(dir string) (string, bool, error) {
	data, err := os.ReadFile(filepath.Join(dir, LinksFile))
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// tester finds the ends of links among objects.
type tester struct {
	objects []*unstructured.Unstructured
	kinds   map[graph.KindPattern]kindInfo
}

// ends returns the links of a definition that a source has.
func (t *tester) ends(d *link.Definition, source *unstructured.Unstructured) ([]v1alpha1.FoundLink, error) {
	named, members, err := d.References(source.Object)
	var all []v1alpha1.FoundLink
	of := link.IdentityOf(groupOf(source), source.GetKind(), source)
	for _, n := range named {
		if kind, described := t.kinds[nameKind(n.Group, n.Kind)]; described && !n.CanBe(kind.categories) {
			continue
		}
		end := t.find(n)
		ref := v1alpha1.ObjectRef{APIVersion: apiVersion(n), Kind: n.Kind, Namespace: n.Namespace, Name: n.Name, UID: n.UID}
		if end != nil {
			ref = graph.RefOf(end)
		} else if t.clusterScoped(n) {
			ref.Namespace = ""
		}
		l := effect(d, source, end, of)
		l.End, l.Present, l.Field, l.Confirmed = ref, end != nil, n.Field, confirmed(d, end, of)
		all = append(all, l)
	}
	for _, m := range members {
		for _, o := range t.objects {
			if o == source {
				continue
			}
			if selects, err := m.Selects(o); err != nil {
				return all, err
			} else if !selects || !m.CanBe(groupOf(o), o.GetKind(), t.kinds[kindOf(o)].categories) {
				continue
			}
			l := effect(d, source, o, of)
			l.End, l.Present, l.Labels, l.Field, l.Confirmed = graph.RefOf(o), true, m.Labels,
				cmp.Or(m.Fields, m.Field), m.NameSource || confirmed(d, o, of)
			all = append(all, l)
		}
	}
	return all, err
}

// confirmed reports whether the end of a link names its source, or is owned by it.
func confirmed(d *link.Definition, end *unstructured.Unstructured, source link.Identity) bool {
	if end == nil {
		return d.ConfirmedBy(nil, source)
	}
	owned := slices.ContainsFunc(end.GetOwnerReferences(),
		func(r metav1.OwnerReference) bool { return string(r.UID) == source.UID })
	return owned || d.ConfirmedBy(end.Object, source)
}

// effect says what a deletion does along a link. Of an end that is not there only what the source
// says is known.
func effect(d *link.Definition, source, end *unstructured.Unstructured, of link.Identity) v1alpha1.FoundLink {
	l := v1alpha1.FoundLink{ID: d.ID, Name: d.Name, Of: string(d.Deletion.Of), Owner: string(d.OwnerSide())}
	var finalizers []string
	switch {
	case d.Deletion.Of == link.End:
		finalizers = source.GetFinalizers()
	case end != nil:
		finalizers = end.GetFinalizers()
	case d.Deletion.Finalizer != "":
		finalizers = []string{d.Deletion.Finalizer}
	}
	e := d.EffectOf(source.Object, finalizers)
	l.Why = e.Why
	if fails := d.FailsFor(source.Object); e.Deletes && fails != "" {
		e.Deletes, l.Why = false, fails
	}
	if d.Deletion.Of == link.End && end != nil {
		l.Kept, _ = link.Kept(d.KeepOf(source.Object), end.Object)
		l.Kept = cmp.Or(l.Kept, d.ClaimedElsewhere(end.Object, of))
		e.Policy = d.PolicyFor(end.Object, e)
	}
	if l.Deleted = e.Deletes && l.Kept == ""; l.Deleted {
		l.By, l.Policy, l.Waits = d.Deletion.By, string(e.Policy), e.Waits
	}
	return l
}

// find returns the object that a reference means, nil if it is not among the objects. One of
// another uid is another object.
func (t *tester) find(n link.Named) *unstructured.Unstructured {
	for _, o := range t.objects {
		if o.GetKind() != n.Kind || o.GetName() != n.Name || n.HasGroup && groupOf(o) != n.Group {
			continue
		}
		if namespace := o.GetNamespace(); namespace != "" && namespace != n.Namespace {
			continue
		}
		if n.UID == "" || n.UID == string(o.GetUID()) {
			return o
		}
	}
	return nil
}

// apiVersion is what a reference says of it.
func apiVersion(n link.Named) string {
	switch {
	case n.Group == "":
		return cmp.Or(n.Version, "v1")
	case n.Version == "":
		return n.Group + "/"
	}
	return n.Group + "/" + n.Version
}

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
		group := status.Nested(o, "spec", "group")
		kind := status.Nested(o, "spec", "names", "kind")
		scope := status.Nested(o, "spec", "scope")
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

// clusterScoped reports whether what a reference names is known to have no namespace.
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

// Diff returns the lines in which two texts differ, those that are missing from got after "-" and
// those that are missing from want after "+", with the line before each that both have. It is empty
// if the texts are the same.
func Diff(want, got string) string {
	a, b := lines(want), lines(got)
	common := make([][]int, len(a)+1) // how many lines the rests of both have in common, in the same order
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out []string
	before := ""
	add := func(sign, line string) {
		if before != "" {
			out, before = append(out, "  "+before), ""
		}
		out = append(out, sign+" "+line)
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			before = a[i]
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			add("-", a[i])
			i++
		default:
			add("+", b[j])
			j++
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

func lines(text string) []string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}
