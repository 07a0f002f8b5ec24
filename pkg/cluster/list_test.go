package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// configMaps makes a manifest of n config maps.
func configMaps(namespace string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(
			&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%03d, namespace: %s, labels: {half: h%d}, finalizers: [example.com/f%d]}\n", i, namespace, i%2, i%3)
	}
	return b.String()
}

// TestListSeesWhatTheMetadataClientSees holds the listing path against client-go's own client, type
// by type.
func TestListSeesWhatTheMetadataClientSees(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 7))
	g, listed := list(t, c.Config(), ListOptions{})
	if len(listed.Gaps) != 0 {
		t.Fatalf("gaps: %+v", listed.Gaps)
	}
	client := metadata.NewForConfigOrDie(c.Config())
	seen := 0
	for _, p := range listed.ResumePoints {
		objects, err := client.Resource(gvr(p.Type)).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range objects.Items {
			o := &objects.Items[i]
			id, ok := g.Lookup(string(o.UID))
			if o.Namespace != ns {
				continue // the system's own objects change meanwhile
			}
			if !ok {
				t.Errorf("%s %s/%s was not listed", p.Type.Resource, o.Namespace, o.Name)
				continue
			}
			seen++
			got := fmt.Sprint(g.Ref(id).Name, g.ResourceVersion(id), g.Finalizers(id), g.CreationTimestamp(id))
			want := fmt.Sprint(o.Name, o.ResourceVersion, o.Finalizers, o.CreationTimestamp.Unix())
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
	if seen < 7 {
		t.Errorf("compared %d objects, want at least the 7 config maps", seen)
	}
}

// TestPagesProtobufAndJSONAreOne lists the same objects in one page, in pages of three, and as
// JSON.
func TestPagesProtobufAndJSONAreOne(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 20))
	opts := ListOptions{Namespace: ns}
	whole, _ := list(t, c.Config(), opts)
	want := dump(whole, ns)
	if len(want) < 20 {
		t.Fatalf("listed %d objects, want at least 20", len(want))
	}
	paged, _, err := tryList(t.Context(), c.Config(), opts, func(c *Client) { c.pageSize = 3 })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, dump(paged, ns)); diff != "" {
		t.Errorf("in pages (-one page +pages):\n%s", diff)
	}
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(listing("configmaps"), faultproxy.JSONOnly())
	asJSON, _, err := tryList(t.Context(), proxy.Config(), opts, func(c *Client) { c.pageSize = 7 })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, dump(asJSON, ns)); diff != "" {
		t.Errorf("as JSON (-protobuf +json):\n%s", diff)
	}
}

func TestSelectorMarksAndLeavesNoneOut(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 6))
	selector, err := labels.Parse("half=h1")
	if err != nil {
		t.Fatal(err)
	}
	g, _ := list(t, c.Config(), ListOptions{Namespace: ns, Selector: selector})
	var marked, all []string
	for i := range g.Len() {
		if r := g.Ref(graph.ID(i)); r.Namespace == ns && r.Kind == "ConfigMap" {
			all = append(all, r.Name)
			if g.Selected(graph.ID(i)) {
				marked = append(marked, r.Name)
			}
		}
	}
	if diff := cmp.Diff([]string{"c001", "c003", "c005"}, marked); diff != "" {
		t.Errorf("marked (-want +got):\n%s", diff)
	}
	if len(all) != 6 {
		t.Errorf("listed %v, want all 6", all)
	}
}

// TestRequestsOfAListing counts them: two for discovery, one for the version and one for each type,
// none of them a write.
func TestRequestsOfAListing(t *testing.T) {
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	_, listed := list(t, proxy.Config(), ListOptions{Namespace: "default"})
	discovery, version, lists := 0, 0, 0
	for _, r := range proxy.Requests() {
		switch {
		case r.Method != "GET":
			t.Errorf("%s %s", r.Method, r.Path)
		case r.Path == "/api", r.Path == "/apis":
			discovery++
		case r.Path == "/version":
			version++
		case r.Query.Has("limit"):
			lists++
			if r.Query.Has("resourceVersion") {
				t.Errorf("%s was asked with a resourceVersion, which allows an answer from the past", r.Path)
			}
		default:
			t.Errorf("unexpected request for %s", r.Path)
		}
	}
	if discovery != 2 || version != 1 || lists != len(listed.ResumePoints) || lists < 30 {
		t.Errorf("%d discovery requests, %d for the version and %d lists for %d types, want 2, 1 and one for each", discovery,
			version, lists, len(listed.ResumePoints))
	}
}

func TestConcurrencyBoundsTheRequestsInFlight(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 12))
	proxy := faultproxy.Start(t, c.Config())
	_, _, err := tryList(t.Context(), proxy.Config(), ListOptions{Namespace: ns},
		func(c *Client) { c.concurrency, c.pageSize = 3, 2 })
	if err != nil {
		t.Fatal(err)
	}
	if most := proxy.MostReads(); most > 3 || most < 2 {
		t.Errorf("%d requests were in flight at once, want no more than 3 and more than 1", most)
	}
}

// TestEventsAreNotListed_GC003: the collector has no monitor for events.
func TestEventsAreNotListed_GC003(t *testing.T) {
	c := testcluster.Shared(t)
	_, listed := list(t, c.Config(), ListOptions{Namespace: "default"})
	if slices.ContainsFunc(listed.ResumePoints, func(p ResumePoint) bool { return p.Type.Resource == "events" }) {
		t.Error("events were listed")
	}
}
