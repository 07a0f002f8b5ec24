package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var pods = graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}

// saved is a client for a snapshot with some pages of metadata of pods, and pods that are whole; each
// is named by a letter. Listed and whole say whether these lists came to their end.
func saved(t *testing.T, pages []string, listed bool, contents string, whole bool) *cluster.Client {
	t.Helper()
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, snapshot.Head{Types: []snapshot.Type{{APIResource: metav1.APIResource{Version: "v1",
		Name: "pods", Kind: "Pod", Namespaced: true, Verbs: metav1.Verbs{"list", "watch", "delete"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	of, end := snapshot.Of{Resource: "pods"}, snapshot.End{}
	for _, page := range pages {
		var items snapshot.Items
		for _, name := range page {
			o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: string(name), Namespace: "shop",
				UID: types.UID(name), Labels: map[string]string{"app": "web"}}}
			raw, err := o.Marshal()
			if err == nil {
				err = items.Add(raw)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		w.Metadata(of, items)
	}
	var objects []json.RawMessage
	for _, name := range contents {
		objects = append(objects, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","uid":%[1]q,`+
			`"labels":{"app":"web"}},"spec":{"nodeName":"n"}}`, string(name)))
	}
	w.Objects(of, objects)
	if listed {
		end.Lists = []snapshot.List{{Of: of, Version: "v1", Kind: "Pod", Namespaced: true, ResourceVersion: "7"}}
	} else {
		end.Gaps = []v1alpha1.Gap{{Resource: "pods", Reason: v1alpha1.GapUnavailable, Message: "the connection broke"}}
	}
	if whole {
		end.Contents = []snapshot.Of{of}
	}
	if _, err := w.Close(end); err != nil {
		t.Fatal(err)
	}
	d, err := dump.Read(t.Context(), &b, dump.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	client, err := cluster.New(&rest.Config{Host: "http://dump.invalid", Transport: New(d, "a snapshot")}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestListsOfASnapshot: what was listed before something failed is not taken for all; of what was
// deleted between the list of metadata and that of whole objects nothing is known, and it is not
// absent; and what only whole objects tell is not taken for no.
func TestListsOfASnapshot(t *testing.T) {
	t.Parallel()
	const unknown = "?"
	for name, test := range map[string]struct {
		pages                                []string
		listed                               bool
		contents                             string
		whole                                bool
		metas, full, all, onNode, byName, of string // what each request finds, and with what it ends
	}{
		"metadata only": {[]string{"ab", "c"}, true, "", false, "abc", "abc", unknown, unknown, "a", unknown},
		"whole, too":    {[]string{"ab"}, true, "ab", true, "ab", "ab", "ab", "ab", "a", "a"},
		"a list of metadata that failed, and whole objects": {[]string{"ab"}, false, "abc", true, "abc", "abc", "abc", "abc", "a", "a"},
		"a list of metadata that failed":                    {[]string{"ab"}, false, "", false, "ab" + unknown, "ab" + unknown, unknown, unknown, "a" + unknown, unknown},
		"whole objects that failed":                         {[]string{"abc"}, true, "ab", false, "abc", "abc", unknown, unknown, "a", "a"},
		"deleted between the lists":                         {[]string{"abc"}, true, "bc", true, "abc", "abc", "bc", "bc", "a", unknown},
		"created between the lists":                         {[]string{"ab"}, true, "abc", true, "ab", "abc", "abc", "abc", "a", "a"},
	} {
		client := saved(t, test.pages, test.listed, test.contents, test.whole)
		names := func(list func(add func(string)) error) string {
			var all []string
			err := list(func(name string) { all = append(all, name) })
			slices.Sort(all)
			if err != nil {
				all = append(all, unknown)
			}
			return strings.Join(all, "")
		}
		listed := func(selected cluster.Selection) string {
			return names(func(add func(string)) error {
				objects, err := client.ListObjects(t.Context(), pods, "", selected)
				for _, o := range objects {
					add(o.GetName())
				}
				return err
			})
		}
		metas := names(func(add func(string)) error {
			_, err := client.ForEachMeta(t.Context(), pods, "", func(o *graph.Object) { add(o.Name) })
			return err
		})
		metasOf := func(selected cluster.Selection) string {
			return names(func(add func(string)) error {
				objects, err := client.ListObjectMetas(t.Context(), pods, "", selected)
				for _, o := range objects {
					add(o.GetName())
				}
				return err
			})
		}
		one := names(func(add func(string)) error {
			o, err := client.GetObject(t.Context(), pods, "shop", "a")
			if err == nil {
				add(o.GetName())
			}
			if cluster.IsAbsent(err, pods, "a") {
				t.Errorf("%s: a is absent", name)
			}
			return err
		})
		onNode := cluster.Selection{Fields: "metadata.namespace=shop,spec.nodeName=n"}
		want := []string{test.metas, test.full, test.all, test.onNode, test.onNode, test.byName, test.of}
		got := []string{metas, metasOf(cluster.Selection{}), listed(cluster.Selection{}), listed(onNode), metasOf(onNode),
			metasOf(cluster.Selection{Labels: "app=web", Fields: "metadata.name=a"}), one}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
