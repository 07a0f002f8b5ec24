package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	podType         = graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	statefulSetType = graph.Type{Group: "apps", Version: "v1", Resource: "statefulsets", Kind: "StatefulSet",
		Namespaced: true}
)

// podsIn creates pods and returns their uids by name.
func podsIn(t *testing.T, c *testcluster.Cluster, namespace string, n int) map[string]string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(
			&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, namespace: %s}\nspec: {nodeName: node%d, terminationGracePeriodSeconds: %d, containers: [{name: c, image: c}]}\n", i, namespace, i, 10+i)
	}
	c.Apply(t, b.String())
	uids := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		uids[name] = c.Kubectl(t, "get", "pod", name, "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	}
	return uids
}

// specFieldsOf reads objects of a type in a namespace, which has so many in all, and returns what was
// read by uid.
func specFieldsOf(ctx context.Context, client *Client, of graph.Type, namespace string, uids map[string]string,
	total int) (map[string]SpecFields, []graph.ID, error) {
	b := graph.NewBuilder()
	l := b.Listing(of, namespace)
	for name, uid := range uids {
		l.Add(graph.Object{Namespace: namespace, Name: name, UID: uid})
	}
	for i := len(uids); i < total; i++ {
		l.Add(graph.Object{Namespace: namespace, Name: fmt.Sprintf("other%d", i), UID: fmt.Sprintf("other%d", i)})
	}
	g := b.Build()
	var ids []graph.ID
	for _, uid := range uids {
		id, _ := g.Lookup(uid)
		ids = append(ids, id)
	}
	contents, unread, err := client.SpecFields(ctx, g, ids)
	byUID := map[string]SpecFields{}
	for id, c := range contents {
		byUID[g.Ref(id).UID] = c
	}
	return byUID, unread, err
}

// TestSpecFieldsOfPods: one by one or by a list, whichever reads less, the same is read.
func TestSpecFieldsOfPods(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	uids := podsIn(t, c, ns, 6)
	for total, wantRequests := range map[int]int{6: 1, 1000: 6} {
		proxy := faultproxy.Start(t, c.Config())
		client, err := New(proxy.Config(), 0)
		if err != nil {
			t.Fatal(err)
		}
		contents, unread, err := specFieldsOf(t.Context(), client, podType, ns, uids, total)
		if err != nil || len(unread) != 0 || len(contents) != 6 {
			t.Fatalf("%d of 6 were read, %v were not, %v", len(contents), unread, err)
		}
		for i := range 6 {
			got := contents[uids[fmt.Sprintf("p%d", i)]]
			if got.NodeName != fmt.Sprintf("node%d", i) || got.Phase != "Pending" ||
				*got.TerminationGracePeriodSeconds != int64(10+i) || got.DeletionGracePeriodSeconds != nil {
				t.Errorf("pod %d of %d: %+v", i, total, got)
			}
		}
		if n := len(proxy.Requests()); n != wantRequests {
			t.Errorf("%d requests for 6 of %d pods, want %d", n, total, wantRequests)
		}
	}
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Kubectl(t, "delete", "pod", "p5", "-n", ns, "--wait=false")
	uids["p4"], uids["gone"] = "another", "nobody"
	contents, unread, err := specFieldsOf(t.Context(), client, podType, ns, uids, 0)
	if err != nil || len(unread) != 0 || len(contents) != 5 {
		t.Errorf("%d were read, %v were not, %v; want all but the one replaced and the one that is gone", len(contents),
			unread, err)
	}
	if p := contents[uids["p5"]].DeletionGracePeriodSeconds; p == nil || *p != 15 {
		t.Errorf("the deletionGracePeriodSeconds of a pod that is being deleted: %v, want 15", p)
	}
}

// TestSpecFieldsOfStatefulSets reads the templates and the policy.
func TestSpecFieldsOfStatefulSets(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: `+ns+`}
spec:
  selector: {matchLabels: {app: db}}
  serviceName: db
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: c}]}}
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
  - {metadata: {name: wal}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
`)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	uid := c.Kubectl(t, "get", "statefulset", "db", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	contents, unread, err := specFieldsOf(t.Context(), client, statefulSetType, ns, map[string]string{"db": uid}, 1)
	if err != nil || len(unread) != 0 {
		t.Fatal(unread, err)
	}
	if got := contents[uid]; !slices.Equal(got.VolumeClaimTemplates, []string{"data", "wal"}) ||
		got.WhenDeleted != "Delete" {
		t.Errorf("read %+v", got)
	}
}

// TestSpecFieldsThatCannotBeRead are named, by a list and one by one.
func TestSpecFieldsThatCannotBeRead(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	uids := podsIn(t, c, ns, 6)
	for name, fault := range map[string]faultproxy.Fault{
		"403":      faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no"),
		"500":      faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "no"),
		"nonsense": faultproxy.Plain(http.StatusOK, "hello"),
		// Neither says that there is no such object (T-01).
		"404":            faultproxy.Plain(http.StatusNotFound, "404 page not found"),
		"404 of nothing": faultproxy.Status(http.StatusNotFound, metav1.StatusReasonNotFound, "not found"),
		"no object":      faultproxy.Plain(http.StatusOK, "{}"),
	} {
		for _, total := range []int{6, 1000} {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(func(r *http.Request) bool {
				return strings.HasSuffix(r.URL.Path, "/pods") || strings.HasSuffix(r.URL.Path, "/p3")
			}, fault)
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			contents, unread, err := specFieldsOf(t.Context(), client, podType, ns, uids, total)
			want := 6
			if total == 1000 {
				want = 1
			}
			if err != nil || len(unread) != want || len(contents) != 6-want {
				t.Errorf("%s, %d pods: %d read, %d not, %v; want %d not", name, total, len(contents), len(unread), err, want)
			}
		}
	}
}

// TestSpecFieldsEndWithTheContext and leave nothing behind.
func TestSpecFieldsEndWithTheContext(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	ctx, cancel := context.WithCancel(t.Context())
	proxy.On(faultproxy.Path("/p0"), func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		cancel()
		<-r.Context().Done()
	})
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = specFieldsOf(ctx, client, podType, "default", map[string]string{"p0": "x"}, 1)
	if err == nil {
		t.Error("no error although the context ended")
	}
}

// TestObjectsAreRequestedByTypeAndNamespace: a request for each type and namespace, with what there
// is of the type besides.
func TestObjectsAreRequestedByTypeAndNamespace(t *testing.T) {
	pods := graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	b := graph.NewBuilder()
	b.Serve(pods)
	l := b.Listing(pods, "")
	for _, path := range [][2]string{{"a", "one"}, {"a", "two"}, {"a", "three"}, {"b", "one"}} {
		l.Add(graph.Object{Namespace: path[0], Name: path[1], UID: path[0] + path[1]})
	}
	l.Complete()
	g := b.Build()
	var ids []graph.ID
	for _, uid := range []string{"aone", "atwo", "bone"} {
		id, _ := g.Lookup(uid)
		ids = append(ids, id)
	}
	got := RequestObjects(g, ids)
	if len(got) != 2 || !slices.Equal(got[0].Names, []string{"one", "two"}) || got[0].Total != 3 ||
		len(got[1].Names) != 1 || got[1].Total != 1 {
		t.Errorf("requests %+v", got)
	}
	if got := RequestObjects(g, nil); got != nil {
		t.Errorf("for nothing: %+v", got)
	}
}
