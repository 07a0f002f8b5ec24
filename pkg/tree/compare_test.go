package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

var types = map[string]graph.Type{
	"Namespace": {Version: "v1", Resource: "namespaces", Kind: "Namespace"},
	"Pod":       {Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true},
	"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Kind: "CustomResourceDefinition"},
	"Widget": {Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true},
}

// side is a listing of objects, each written as KIND/NAME, with @UID if that is not its name, and
// what follows: <OWNER for a Pod that owns it, +FINALIZER, and ! for one that is being deleted. Pods
// and Widgets are in namespace shop. Types that are named with a - could not be listed, and with a 0
// are not served; with a ? the whole group is not there.
func side(text string) Side {
	b := graph.NewBuilder()
	gaps, omitted, vanished := []v1alpha1.Gap{}, map[string]bool{}, map[string]bool{}
	objects := map[string][]graph.Object{}
	for _, word := range strings.Fields(text) {
		kind, rest, named := strings.Cut(word, "/")
		if !named {
			t := types[word[1:]]
			switch word[0] {
			case '-':
				gaps = append(gaps, v1alpha1.Gap{Group: t.Group, Resource: t.Resource})
			case '0':
				omitted[t.Resource] = true
			case '?':
				vanished[t.Resource] = true
			}
			continue
		}
		parts := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("@<+!", r) })
		o := graph.Object{Name: parts[0], UID: parts[0]}
		for _, part := range parts[1:] {
			switch rest[strings.LastIndex(rest, part)-1] {
			case '@':
				o.UID = part
			case '<':
				o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: part, UID: part})
			case '+':
				o.Finalizers = append(o.Finalizers, part)
			}
		}
		if strings.HasSuffix(rest, "!") {
			o.DeletionTimestamp = 1_700_000_000
		}
		if types[kind].Namespaced {
			o.Namespace = "shop"
		}
		objects[kind] = append(objects[kind], o)
	}
	for kind, t := range types {
		if omitted[t.Resource] || vanished[t.Resource] {
			continue
		}
		b.Serve(t)
		listing := b.Listing(t, "")
		listing.Add(objects[kind]...)
		if !slices.ContainsFunc(gaps, func(g v1alpha1.Gap) bool { return g.Resource == t.Resource }) {
			listing.Complete()
		}
	}
	return Side{Graph: b.Build(), Gaps: gaps,
		Serves: func(of schema.GroupResource) bool { return !omitted[of.Resource] && !vanished[of.Resource] },
		Omits:  func(of schema.GroupResource) bool { return omitted[of.Resource] }}
}

// says is a comparison in words.
func says(c *v1alpha1.Comparison) string {
	var all []string
	for _, d := range c.Deleted {
		word := fmt.Sprintf("deleted %s %s", d.Object.Name, d.Cause)
		if d.With != nil {
			word += " " + d.With.Name
		}
		if d.Top != nil {
			word += " below " + d.Top.Name
		}
		all = append(all, word)
	}
	for _, o := range c.Created {
		all = append(all, strings.TrimSpace("created "+o.Object.UID+" "+o.Replaces))
	}
	for _, o := range c.Changed {
		names := func(refs []v1alpha1.ObjectRef) (names []string) {
			for _, r := range refs {
				names = append(names, r.Name)
			}
			return names
		}
		all = append(all, fmt.Sprintf("changed %s %v %v %v %v %t", o.Object.Name, names(o.OwnersAdded), names(o.OwnersRemoved),
			o.FinalizersAdded, o.FinalizersRemoved, o.DeletionTimestamp != nil))
	}
	for _, o := range c.Unknown {
		all = append(all, "unknown "+o.Name)
	}
	return strings.Join(all, ", ")
}

func TestWhatIsOtherwise(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after, want string }{
		"nothing":                         {"Pod/a Pod/b<a", "Pod/a Pod/b<a", ""},
		"a cascade":                       {"Pod/a Pod/b<a Pod/c<b", "", "deleted a Itself, deleted b Owner a, deleted c Owner b below a"},
		"a dependent alone":               {"Pod/a Pod/b<a", "Pod/a", "deleted b Itself"},
		"one of two owners is left":       {"Pod/a Pod/b Pod/c<a<b", "Pod/b", "deleted a Itself, deleted c Itself"},
		"both owners are gone":            {"Pod/a Pod/b Pod/c<a<b", "", "deleted a Itself, deleted c Owner a, deleted b Itself"},
		"its owner was gone before":       {"Pod/b<a", "", "deleted b AbsentOwner"},
		"owners in a circle":              {"Pod/a<b Pod/b<a", "", "deleted b Owner a, deleted a Owner b"},
		"orphaned":                        {"Pod/a Pod/b<a", "Pod/b", "deleted a Itself, changed b [] [a] [] [] false"},
		"with its namespace":              {"Namespace/shop Pod/a Pod/b<a", "", "deleted shop Itself, deleted a Namespace shop, deleted b Owner a below shop"},
		"with its definition":             {"CustomResourceDefinition/widgets.example.com Widget/w", "0Widget", "deleted widgets.example.com Itself, deleted w Definition widgets.example.com"},
		"its type is not served any more": {"Widget/w", "0Widget", "deleted w Itself"},
		"created":                         {"", "Pod/a", "created a"},
		"the group went with the definition": {"CustomResourceDefinition/widgets.example.com Widget/w", "?Widget",
			"deleted widgets.example.com Itself, deleted w Definition widgets.example.com"},
		"the group came with the definition": {"?Widget", "CustomResourceDefinition/widgets.example.com Widget/w",
			"created widgets.example.com, created w"},
		"the group is not there, for all that is known": {"Widget/w", "?Widget", "unknown w"},
		"definitions cannot be listed": {"CustomResourceDefinition/widgets.example.com Widget/w",
			"?Widget -CustomResourceDefinition", "unknown widgets.example.com, unknown w"},
		"the definition is there, and its group is not": {"CustomResourceDefinition/widgets.example.com Widget/w",
			"?Widget CustomResourceDefinition/widgets.example.com", "unknown w"},
		"created again":                  {"Pod/a@1", "Pod/a@2", "deleted a Itself, created 2 1"},
		"seen again, and not listed":     {"Pod/a@1 -Pod", "Pod/a@2 -Pod", "deleted a Itself, created 2 1"},
		"owners and finalizers":          {"Pod/a Pod/b+x", "Pod/a Pod/b<a+y!", "changed b [a] [] [y] [x] true"},
		"being deleted as before":        {"Pod/a+x!", "Pod/a+x!", ""},
		"cannot be listed afterwards":    {"Pod/a Widget/w", "-Pod", "deleted w Itself, unknown a"},
		"could not be listed before":     {"-Pod", "Pod/a Widget/w", "created w, unknown a"},
		"an owner cannot be listed":      {"Pod/a Widget/w<a", "-Pod", "deleted w Unknown, unknown a"},
		"an owner was not listed before": {"-Pod Widget/w<a", "", "deleted w Unknown"},
	} {
		if got := says(Compare(side(test.before), side(test.after), "")); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestOneNamespaceIsCompared: what is in no namespace is left out, but for the namespace, and tells
// why something is gone all the same.
func TestOneNamespaceIsCompared(t *testing.T) {
	t.Parallel()
	before := side("Namespace/shop Namespace/other CustomResourceDefinition/widgets.example.com Pod/a Widget/w")
	after := side("Namespace/shop 0Widget")
	if got, want := says(Compare(before, after, "shop")), "deleted w Definition widgets.example.com, deleted a Itself"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := says(Compare(before, after, "none")); got != "" {
		t.Errorf("of another namespace: %q", got)
	}
}
