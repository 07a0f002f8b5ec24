package dump

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// FuzzRead: whatever comes, it is a dump with objects that can be found, or an error.
func FuzzRead(f *testing.F) {
	for _, seed := range [][]byte{
		[]byte(pod), []byte(list("v1", "List", pod, otherPod, node, widget, widgets)), []byte(`[{"metadata":{}}]`),
		archived(f, member{name: "resources/pods/namespaces/shop/web.json", content: pod}),
		archived(f, member{name: "namespaces/shop/core/pods.yaml", content: list("v1", "PodList", pod)}),
		archived(f, member{name: "cluster-resources/pods/shop.json", content: "[" + pod + "]"}),
		archived(f, member{name: "shop/replication-controllers.json", content: list("v1", "ReplicationControllerList")}),
		zipped(f, []byte(pod)),
		[]byte("apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\ncluster: a\n---\n" + pod),
		[]byte("kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: a, namespace: b, uid: c}\n"),
	} {
		f.Add(seed)
	}
	limits := Limits{Entry: 1 << 20, Kept: 1 << 20, Unpacked: 1 << 20, Entries: 100, Objects: 1000}
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := Read(t.Context(), bytes.NewReader(content), limits)
		if err != nil {
			return
		}
		objects := 0
		for _, typ := range d.Types {
			objects += len(typ.Objects)
			if found, ok := d.Find(typ.Group, typ.Name); !ok || found != typ {
				t.Errorf("%s.%s is not found", typ.Name, typ.Group)
			}
			for _, o := range typ.Objects {
				if found, ok := typ.Find(o.Namespace, o.Name); !ok || found != o || !json.Valid(o.JSON) || o.UID == "" {
					t.Errorf("%s %s/%s is not found", typ.Name, o.Namespace, o.Name)
				}
			}
		}
		if objects == 0 && !slices.ContainsFunc(d.Types, (*Type).isListed) || objects != d.Objects {
			t.Errorf("a dump of %d objects has %d", d.Objects, objects)
		}
	})
}

// FuzzListOfYAML: a list that is decoded item by item is the one that is decoded as a whole.
func FuzzListOfYAML(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: v1\nitems:\n- a: 1\n  b: |\n    x\n\n    - y\n- c: [1,\n  2]\nkind: List\n", "items:\n  - a: 1\n", "items:\n-\n  a: 1\n",
		"items:\n- a\n- - b\n  - c\n", "items: []\n", "items:\nkind: List\n", "items:\n- |\n  a\nb: c\n", "items:\n- 'a\n\n  b'\n",
		"a:\n b\nitems:\n- 0\n-", "items:\n- 0\n# between\n- 1\n", "items:\n- '\n0'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, ok := decodeItems([]byte(text))
		if !ok {
			return
		}
		raw, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			return // kubectl could not read it either
		}
		var whole map[string]any
		if err := json.Unmarshal(raw, &whole); err != nil {
			t.Fatal(err)
		}
		list := []any{}
		for _, item := range doc.items {
			var v any
			if err := json.Unmarshal(item, &v); err != nil {
				t.Fatal(err)
			}
			list = append(list, v)
		}
		if diff := cmp.Diff(whole["items"], any(list)); diff != "" {
			t.Error(diff)
		}
	})
}
