package finalizer_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// valid is a pack without a fault; tests put one in.
const valid = `title: Widgets
components:
  Widget operator:
    deployments: ['*/widget-operator']
    unverified: ['*/widget-operator']
finalizers:
- id: widget
  exact: example.com/widget
  kinds: [example.com/Widget, v1/Secret]
  component: Widget operator
  does: deletes the widget
  ifRemoved: the widget leaks
  risk: leaks-external
  polarity: cleanup
  verified: source
  source: https://example.com/widget.go
`

func folder(packs ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i, pack := range packs {
		files[string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(pack)}
	}
	return files
}

func load(t testing.TB, packs ...string) *finalizer.Registry {
	t.Helper()
	r, err := finalizer.Load(folder(packs...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLoad(t *testing.T) {
	k, ok := load(t, valid).Lookup("example.com/widget", "example.com", "Widget")
	if !ok {
		t.Fatal("the entry is not found")
	}
	if k.Pack != "Widgets" || k.Actor != "Widget operator" || k.Field != finalizer.InMetadata ||
		len(k.Alive.Deployments) != 1 {
		t.Errorf("what an entry leaves out is not filled in: %+v", k)
	}
}

// TestLoadRefuses puts one fault into a pack at a time. The error must name the file and the entry,
// and say what to do.
func TestLoadRefuses(t *testing.T) {
	_, entries, _ := strings.Cut(valid, "finalizers:")
	for name, c := range map[string]struct{ old, new, want string }{
		"no YAML": {"title: Widgets", "title: [", "a.yaml: "},
		"a key twice": {"title: Widgets", "title: Widgets\ntitle: Gadgets",
			"a.yaml: yaml: unmarshal errors:\n  line 2: key \"title\" already set in map"},
		"unknown key of file": {"title: Widgets", "title: Widgets\nlead: x", `a.yaml: unknown field "lead"`},
		"no title":            {"title: Widgets", "title: ''", `a.yaml: "title" is missing`},
		"unknown key": {"  risk:", "  leaks: x\n  risk:",
			`a.yaml:7: entry 1 ("widget"): unknown field "leaks": docs/packs.md lists the keys`},
		"key in another case": {"  risk:", "  Risk:", `a.yaml:7: entry 1 ("widget"): unknown field "Risk"`},
		"a list for a word": {"risk: leaks-external", "risk: [none]",
			`a.yaml:7: entry 1 ("widget"): json: cannot unmarshal array`},
		"no id": {"id: widget", "id: ''", `a.yaml:7: entry 1 (""): "id" is missing`},
		"no name": {"  exact: example.com/widget\n", "",
			`a.yaml:7: entry 1 ("widget"): give exactly one of "exact", "prefix", "suffix" and "regex"`},
		"two names": {"  exact:", "  prefix: x/\n  exact:", "give exactly one of"},
		"bad regex": {"exact: example.com/widget", "regex: '^(x$'",
			`a.yaml:7: entry 1 ("widget"): "regex" is no regular expression`},
		"regex without anchor": {"exact: example.com/widget", "regex: widget", "begin it with ^ and end it with $"},
		"exact fallback":       {"  exact:", "  fallback: true\n  exact:", `leave it out with "exact"`},
		"no kinds": {"kinds: [example.com/Widget, v1/Secret]", "kinds: []",
			`"kinds" is empty: list v1/Kind or group/Kind`},
		"kind without group":  {"v1/Secret", "Secret", `"kinds" has "Secret": write v1/Kind, group/Kind`},
		"kind with version":   {"v1/Secret", "apps/v1/Deployment", `"kinds" has "apps/v1/Deployment"`},
		"bad pattern of kind": {"v1/Secret", "'v1/[S'", `"kinds" has "v1/[S"`},
		"no component":        {"  component: Widget operator\n", "", `"component" is missing`},
		"unknown component": {"component: Widget operator", "component: Gadget operator",
			`component "Gadget operator" is not among the pack's "components": add it there`},
		"freed by nobody": {"  component: Widget operator\n", "  component: Widget operator\n  freedBy: Gadget operator\n",
			`"freedBy" is "Gadget operator": name one of the pack's "components"`},
		"unused component": {"components:\n", "components:\n  Gadget operator: {}\n",
			`a.yaml: component "Gadget operator": no entry names it`},
		"bad lease": {"    unverified:", "    leases: [widget]\n    unverified:",
			`a.yaml: component "Widget operator": "widget": write namespace/name`},
		"stray unverified": {"unverified: ['*/widget-operator']", "unverified: [x/y]",
			`"unverified" has "x/y", which the component does not list`},
		"unknown sign of life": {"    unverified:", "    jobs: [x/y]\n    unverified:",
			`a.yaml: component "Widget operator": unknown field "jobs"`},
		"no does":             {"  does: deletes the widget\n", "", `"does" is missing`},
		"does with full stop": {"deletes the widget", "deletes the widget.", "leave the full stop out"},
		"two lines":           {"does: deletes the widget", `does: "deletes\nit"`, "write one line"},
		"escape sequence":     {"does: deletes the widget", `does: "deletes \u001b[31mit"`, "write one line"},
		"no ifRemoved":        {"  ifRemoved: the widget leaks\n", "", `"ifRemoved" is missing`},
		"unknown risk": {"risk: leaks-external", "risk: safe",
			`"risk" is "safe": it must be one of none, leaks-external, data-loss, breaks-cluster`},
		"no risk": {"  risk: leaks-external\n", "", `"risk" is ""`},
		"unknown polarity": {"polarity: cleanup", "polarity: good",
			`"polarity" is "good": it must be one of cleanup, guard,`},
		"unknown field":        {"  risk:", "  field: status.finalizers\n  risk:", `"field" is "status.finalizers"`},
		"unknown verification": {"verified: source", "verified: hearsay", `"verified" is "hearsay"`},
		"no source": {"source: https://example.com/widget.go", "source: me",
			`"source" is "me": give the https:// address`},
		"image with registry": {"    unverified:", "    images: [ghcr.io/x/y]\n    unverified:",
			`"images" has "ghcr.io/x/y": write the path of the repository`},
		"image with tag":   {"    unverified:", "    images: ['x/y:v1']\n    unverified:", `"images" has "x/y:v1"`},
		"image as pattern": {"    unverified:", "    images: ['x/*']\n    unverified:", `"images" has "x/*"`},
		"unknown follow": {"    unverified:", "    follow: owner\n    unverified:",
			`"follow" is "owner": it must be one of`},
		"instance by name": {"    unverified:", "    instance: {name: x}\n    unverified:",
			`unknown field "instance.name"`},
		"outside in words": {"    unverified:", "    outside: usually\n    unverified:", "cannot unmarshal string"},
		"unknown placeholder": {"    unverified:", "    leases: ['*/{driver}']\n    unverified:",
			`"*/{driver}": {driver} is no placeholder: docs/packs.md lists them`},
		"placeholder, no key": {"    unverified:", "    leases: ['*/{label}']\n    unverified:",
			"{label} is no placeholder"},
		"placeholder with key": {"    unverified:", "    leases: ['*/{group:x}']\n    unverified:",
			"{group:x} is no placeholder"},
		"dashed nothing": {"    unverified:", "    leases: ['*/{dashed:label}']\n    unverified:",
			"{dashed:label} is no placeholder"},
		"stray brace": {"    unverified:", "    leases: ['*/{Group}']\n    unverified:",
			`"*/{Group}" has a brace that belongs to no placeholder`},
		"two namespaces": {"    unverified:", "    leases: ['*/{label:a/b}/c']\n    unverified:",
			"write namespace/name"},
		"step does nothing": {"  risk:", "  protect: [{command: kubectl get pv}]\n  risk:",
			`"protect", number 1: "does" is missing`},
		"step without command": {"  risk:", "  protect: [{does: saves it}]\n  risk:",
			`"protect", number 1: "command" is missing`},
		"step with full stop": {"  risk:", "  protect: [{command: kubectl get pv, does: saves it.}]\n  risk:",
			"leave the full stop out"},
		"step of a group": {"  risk:", "  protect: [{command: 'get {group}', does: saves it}]\n  risk:",
			"{group} is no placeholder of a command"},
		"paused by nothing": {"  risk:", "  pausedBy: [{value: x}]\n  risk:",
			`"pausedBy", number 1: give exactly one of "annotation", "label" and "field"`},
		"external nowhere": {"  risk:", "  external: [{is: load balancer}]\n  risk:",
			`"external", number 1: give exactly one of "annotation" and "field"`},
		"external nothing":  {"  risk:", "  external: [{field: spec.x}]\n  risk:", `"external", number 1: "is" is missing`},
		"paused by two":     {"  risk:", "  pausedBy: [{annotation: x, field: spec.x}]\n  risk:", "give exactly one of"},
		"paused by a bool":  {"  risk:", "  pausedBy: [{field: spec.x, value: true}]\n  risk:", "cannot unmarshal bool"},
		"paused by no path": {"  risk:", "  pausedBy: [{field: /spec/x}]\n  risk:", `"/spec/x" is no path to a field`},
		"need without kind": {"  risk:", "  needs: [{nameField: spec.x, scope: cluster}]\n  risk:",
			`"needs", number 1: give "kind", or "kindField"`},
		"need without name": {"  risk:", "  needs: [{kind: X, scope: cluster}]\n  risk:",
			`"needs", number 1: give "nameField", or "name"`},
		"need without scope": {"  risk:", "  needs: [{kind: X, name: x}]\n  risk:",
			`"scope" is "": it must be one of same-namespace, cluster, field`},
		"need without field": {"  risk:", "  needs: [{kind: X, name: x, scope: field}]\n  risk:",
			`"namespaceField" goes with scope "field", and only with that`},
		"need with a version": {"  risk:", "  needs: [{group: x.io/v1, kind: X, name: x, scope: cluster}]\n  risk:",
			`"group" is "x.io/v1": write the group alone`},
		"need of a need": {"  risk:",
			"  needs: [{kind: X, name: x, scope: cluster, needs: [{kind: Z, scope: cluster}]}]\n  risk:",
			`"needs", number 1: "needs", number 1: give "nameField"`},
		"need where nothing": {"  risk:", "  needs: [{kind: X, name: x, scope: cluster, where: [{value: x}]}]\n  risk:",
			`"needs", number 1: "where": number 1: `},
		"use without kind": {"  risk:", "  usedBy: [{nameField: spec.x, scope: cluster}]\n  risk:",
			`"usedBy", number 1: "kind" is missing`},
		"use without field": {"  risk:", "  usedBy: [{kind: X, scope: cluster}]\n  risk:",
			`"usedBy", number 1: "nameField" is missing`},
		"waits for no kind": {"  risk:", "  waitsFor: [Machine]\n  risk:", `"waitsFor": "kinds" has "Machine"`},
		"takes all": {"  risk:", "  takes: [{of: {kind: X, name: x, scope: cluster}}]\n  risk:",
			`"takes", number 1: "where": number 1, is empty`},
		"takes without one": {"  risk:", "  takes: [{where: [{field: z}], ifAbsent: true}]\n  risk:",
			`"takes", number 1: "ifAbsent" goes with "of"`},
		"takes by no name": {"  risk:", "  takes: [{of: {kind: X, scope: cluster}, where: [{field: z}]}]\n  risk:",
			`"takes", number 1: give "nameField"`},
		"needs what is no placeholder": {"  risk:", "  needs: [{kind: X, name: '{nobody}', scope: cluster}]\n  risk:",
			`{nobody} is no placeholder`},
		"reported by no condition": {"    unverified:", "    reportedBy: {kind: X, name: x}\n    unverified:",
			`"reportedBy": "condition" is missing`},
		"at a node of no name": {"  risk:", "  node: {where: [{field: z}]}\n  risk:", `"node": give exactly one of "field" and "name"`},
		"held by nothing": {"  risk:", "  heldBy: [{waits: waits for it, remedy: Wait.}]\n  risk:",
			`"heldBy", number 1: give exactly one of "items" or "says", "annotation", "kind", "untilGone", and "node" or "warning"`},
		"held by two": {"  risk:",
			"  heldBy: [{says: status.x, warning: Failed, waits: waits for it, remedy: Wait.}]\n  risk:",
			`"heldBy", number 1: give exactly one of "items" or "says", "annotation", "kind", "untilGone", and "node" or "warning"`},
		"held unless nothing goes": {"  risk:",
			"  heldBy: [{says: status.x, unlessDeleted: [{kind: X, scope: cluster}], waits: waits, remedy: Wait.}]\n  risk:",
			`"unlessDeleted", number 1: give "nameField"`},
		"use where nothing": {"  risk:",
			"  usedBy: [{kind: X, nameField: spec.x, scope: cluster, where: [{value: x}]}]\n  risk:",
			`"usedBy", number 1: "where": number 1: `},
		"held by nobody's": {"  risk:",
			"  heldBy: [{kind: X, each: [{field: z}], waits: waits for it, remedy: Wait.}]\n  risk:",
			`"heldBy", number 1: "namedAt" goes with "kind"`},
		"held in no kind": {"  risk:",
			"  heldBy: [{items: 'status.x[*]', namespaces: [spec.y], each: [{field: z}], waits: waits, remedy: Wait.}]\n  risk:",
			`"namespaces" too, and only with that`},
		"approval of an annotation": {"  risk:",
			"  heldBy: [{annotation: x, approval: z, waits: waits for it, remedy: Wait.}]\n  risk:",
			`"heldBy", number 1: "approval" goes with "items"`},
		"shared by all on a node": {"  risk:",
			"  heldBy: [{node: spec.x, each: [{field: z}], warning: Failed, shared: true, waits: waits, remedy: Wait.}]\n  risk:",
			`"heldBy", number 1: "shared" goes with "warning"`},
		"shared without a warning": {"  risk:",
			"  heldBy: [{says: status.x, shared: true, waits: waits, remedy: Wait.}]\n  risk:",
			`"heldBy", number 1: "shared" goes with "warning"`},
		"held for nothing": {"  risk:", "  heldBy: [{items: 'status.x[*]', each: [{field: z}], remedy: Wait.}]\n  risk:",
			`"heldBy", number 1: "waits" is missing`},
		"use in a field": {"  risk:",
			"  usedBy: [{kind: X, nameField: spec.x, namespaceField: spec.y, scope: cluster}]\n  risk:", "goes with scope"},
		"parent without name": {"  risk:", "  parent: {kind: X, scope: cluster}\n  risk:", `"parent": "name" is missing`},
		"parent of a driver": {"  risk:", "  parent: {kind: X, name: '{driver}', scope: cluster}\n  risk:",
			`"parent": "{driver}": {driver} is no placeholder`},
		"parent in a field": {"  risk:", "  parent: {kind: X, name: x, scope: field}\n  risk:",
			`"parent": "scope" is "field"`},
		"parent selects badly": {"  risk:", "  parent: {kind: X, name: x, scope: cluster, selectors: ['spec[0]']}\n  risk:",
			`"parent": "spec[0]" is no path to a field`},
		"no entry": {"finalizers:" + entries, "finalizers: []", `a.yaml: "finalizers", "links" and "pruners" are empty`},
	} {
		t.Run(name, func(t *testing.T) {
			pack := strings.Replace(valid, c.old, c.new, 1)
			if pack == valid {
				t.Fatalf("%q is not in the pack", c.old)
			}
			r, err := finalizer.Load(folder(pack))
			if err == nil || r != nil {
				t.Fatalf("got %v and no error", r)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got:  %v\nwant: …%s…", err, c.want)
			}
		})
	}
}

func TestLoadRefusesDuplicates(t *testing.T) {
	other := strings.NewReplacer("id: widget", "id: gadget", "kinds: [example.com/Widget, v1/Secret]",
		"kinds: [v1/Secret, v1/Secret]").Replace(valid)
	for name, c := range map[string]struct{ second, want string }{
		"id": {strings.ReplaceAll(valid, "exact: example.com/widget", "exact: example.com/gadget"),
			`b.yaml: entry "widget": a.yaml has an entry of that id: give it another`},
		"exact": {other, `b.yaml: entry "gadget": entry "widget" knows example.com/widget on v1/Secret too: merge them`},
	} {
		_, err := finalizer.Load(folder(valid, c.second))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	load(t, valid, strings.ReplaceAll(other, "v1/Secret", "v1/ConfigMap"))
}

// TestLoadTellsAll wants every fault in one error, and files that are no packs left alone.
func TestLoadTellsAll(t *testing.T) {
	files := folder(strings.Replace(valid, "risk: leaks-external", "risk: safe", 1),
		strings.NewReplacer("id: widget", "id: gadget", "polarity: cleanup", "polarity: good").Replace(valid))
	files["README.md"] = &fstest.MapFile{Data: []byte("no pack")}
	_, err := finalizer.Load(files)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`a.yaml:7: entry 1 ("widget"): "risk"`, `b.yaml:7: entry 1 ("gadget"): "polarity"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not tell of %s", err, want)
		}
	}
	if _, err := finalizer.Load(fstest.MapFS{"README.md": files["README.md"]}); err == nil ||
		err.Error() != "no pack found: a pack is a file *.yaml" {
		t.Errorf("a folder without packs: %v", err)
	}
}

// linked is a pack of links.
const linked = `title: Widgets
links:
- id: widget-parts
  name: part
  from: {kinds: [example.com/Widget]}
  ends: [{form: reference, field: 'spec.parts[*]'}]
  deletion: {of: end, by: Widget operator, finalizer: example.com/widget, policy: background, waits: always}
  verified: source
  source: https://example.com/widget.go
`

// TestLoadLinks: a pack may know links alone, and a later pack replaces a link by its id.
func TestLoadLinks(t *testing.T) {
	r := load(t, linked)
	if links := r.Links(); len(links) != 1 || links[0].ID != "widget-parts" || links[0].Pack != "Widgets" {
		t.Fatalf("%+v", links)
	}
	both := r.With(load(t, strings.Replace(linked, "name: part", "name: piece", 1)))
	if links := both.Links(); len(links) != 1 || links[0].Name != "piece" {
		t.Errorf("%+v", links)
	}
}

// TestLoadRefusesLinks: the error names the file, the line on which the link begins, and the link.
func TestLoadRefusesLinks(t *testing.T) {
	_, entry, _ := strings.Cut(linked, "links:\n")
	for name, c := range map[string]struct{ pack, want string }{
		"unknown key": {strings.Replace(linked, "  name:", "  lead: x\n  name:", 1),
			`a.yaml:3: link 1 ("widget-parts"): unknown field "lead": docs/packs.md lists the keys`},
		"bad path": {strings.Replace(linked, "spec.parts[*]", "spec..parts", 1), `a.yaml:3: link 1`},
		"bad form": {strings.Replace(linked, "form: reference", "form: list", 1),
			`"ends", number 1: "form" is "list": it must be one of reference`},
		"second entry": {linked + strings.NewReplacer("widget-parts", "more", "name: part", "name: ''").Replace(entry),
			`a.yaml:10: link 2 ("more"): "name" is missing`},
		"same id": {linked + entry, `a.yaml: link "widget-parts": a.yaml has a link of that id`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := finalizer.Load(folder(c.pack)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}
