package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// readWhole reads config maps and returns what came, by name, and how often.
func readWhole(ctx context.Context, config *rest.Config, namespace string, of int,
	names ...string) (map[string]*unstructured.Unstructured, int, error) {
	client, err := New(config, 0)
	if err != nil {
		return nil, 0, err
	}
	var mu sync.Mutex
	objects, times := map[string]*unstructured.Unstructured{}, 0
	request := ObjectRequest{Type: configMapType, Namespace: namespace, Names: names, Total: of}
	err = client.ForEachObject(ctx, []ObjectRequest{request}, func(o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		objects[o.GetName()] = o
		times++
		return nil
	})
	return objects, times, err
}

func configMapNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("c%03d", i))
	}
	return names
}

// reads counts the lists and the reads of single config maps that a proxy saw.
func reads(proxy *faultproxy.Proxy) (lists, gets int) {
	for _, r := range proxy.Requests() {
		switch {
		case strings.HasSuffix(r.Path, "/configmaps"):
			lists++
		case strings.Contains(r.Path, "/configmaps/"):
			gets++
		}
	}
	return lists, gets
}

// TestWholeObjectsAreWhatAGetAnswers, whether they were listed or read one by one, which depends on
// how many are wanted of how many.
func TestWholeObjectsAreWhatAGetAnswers(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 7))
	client := dynamic.NewForConfigOrDie(c.Config()).Resource(gvr(configMapType)).Namespace(ns)
	for _, test := range []struct {
		wanted, of  int
		lists, gets int
	}{{1, 7, 0, 1}, {singleReads, 7, 0, singleReads}, {7, 7, 1, 0}, {5, 1000, 0, 5}} {
		proxy := faultproxy.Start(t, c.Config())
		names := configMapNames(test.wanted)
		objects, _, err := readWhole(t.Context(), proxy.Config(), ns, test.of, names...)
		if err != nil {
			t.Fatal(err)
		}
		if len(objects) != test.wanted {
			t.Errorf("%d of %d: %d came", test.wanted, test.of, len(objects))
		}
		for _, name := range names {
			want, err := client.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, objects[name]); diff != "" {
				t.Errorf("%d of %d: %s (-want +got):\n%s", test.wanted, test.of, name, diff)
			}
		}
		if lists, gets := reads(proxy); lists != test.lists || gets != test.gets {
			t.Errorf("%d of %d: %d lists and %d reads, want %d and %d", test.wanted, test.of, lists, gets, test.lists, test.gets)
		}
	}
}

// inPages has the proxy ask for pages of n objects.
func inPages(n int) faultproxy.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		query := r.URL.Query()
		query.Set("limit", fmt.Sprint(n))
		r.URL.RawQuery = query.Encode()
		next.ServeHTTP(w, r)
	}
}

// TestWholeListInPages: all pages are read, one that expires begins the list again, and one that
// always does is an error.
func TestWholeListInPages(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 8))
	names := configMapNames(8)
	second := func(r *http.Request) bool { return listing("configmaps")(r) && r.URL.Query().Has("continue") }
	expired := faultproxy.Status(410, metav1.StatusReasonExpired, "the provided continue parameter is too old")

	proxy := faultproxy.Start(t, c.Config())
	proxy.On(listing("configmaps"), inPages(3))
	objects, times, err := readWhole(t.Context(), proxy.Config(), ns, 8, names...)
	if lists, _ := reads(proxy); err != nil || len(objects) != 8 || times != 8 || lists != 3 {
		t.Errorf("in pages: %d objects, %d times, in %d lists: %v; want 8, 8, 3", len(objects), times, lists, err)
	}

	once := true
	proxy.On(second, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if once {
			once = false
			expired(w, r, next)
			return
		}
		inPages(3)(w, r, next)
	})
	objects, times, err = readWhole(t.Context(), proxy.Config(), ns, 8, names...)
	if err != nil || len(objects) != 8 || times != 11 {
		t.Errorf("expired once: %d objects, %d times: %v; want 8 and 11", len(objects), times, err)
	}

	proxy.On(second, expired)
	if _, _, err = readWhole(t.Context(), proxy.Config(), ns, 8, names...); !apierrors.IsResourceExpired(err) {
		t.Errorf("expired always: %v", err)
	}
}

// TestWholeObjectThatIsGoneIsLeftOut: that a server says so by name is proof, and nothing else is.
func TestWholeObjectThatIsGoneIsLeftOut(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 6))
	for _, names := range [][]string{{"c000", "gone"}, append(configMapNames(6), "gone")} {
		objects, _, err := readWhole(t.Context(), c.Config(), ns, 6, names...)
		if err != nil || len(objects) != len(names)-1 || objects["gone"] != nil {
			t.Errorf("%v: %d came, %v; want all but the one that is gone", names, len(objects), err)
		}
	}
	another := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: 404,
		Reason:  metav1.StatusReasonNotFound,
		Message: `configmaps "another" not found`, Details: &metav1.StatusDetails{Name: "another", Kind: "configmaps"},
	}
	for name, fault := range map[string]faultproxy.Fault{
		"not served":   faultproxy.Plain(404, "404 page not found"),
		"no details":   faultproxy.Status(404, metav1.StatusReasonNotFound, "not found"),
		"another name": statusOf(404, another),
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Path("/c000"), fault)
		_, _, err := readWhole(t.Context(), proxy.Config(), ns, 6, "c000")
		var unread *UnreadError
		if !errors.As(err, &unread) {
			t.Errorf("%s: %v, want an error: unknown is not absent", name, err)
		}
	}
}

// TestWholeFaults: what cannot be read is an error that names it, and what f returns is handed on
// as it is.
func TestWholeFaults(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 6))
	one := fmt.Sprintf(`reading configmaps "c000" in namespace %q: `, ns)
	all := fmt.Sprintf(`reading configmaps in namespace %q: `, ns)
	for name, test := range map[string]struct {
		fault faultproxy.Fault
		count int
		want  string
	}{
		"an error":                     {faultproxy.Status(500, metav1.StatusReasonInternalError, "no"), 1, one},
		"forbidden":                    {faultproxy.Status(403, metav1.StatusReasonForbidden, "no"), 1, one},
		"something else":               {faultproxy.Plain(200, "hello"), 1, one},
		"an object without a name":     {faultproxy.Plain(200, `{"kind":"ConfigMap","apiVersion":"v1"}`), 1, one},
		"an error for the list":        {faultproxy.Status(500, metav1.StatusReasonInternalError, "no"), 6, all},
		"half a list":                  {faultproxy.Truncate(1500), 6, all},
		"another list":                 {faultproxy.Plain(200, `{"kind":"Status","apiVersion":"v1"}`), 6, all},
		"a list of things":             {faultproxy.Plain(200, `{"items":[1]}`), 6, all},
		"a list of half objects":       {faultproxy.Plain(200, `{"items":[{"metadata":{"name":"c000"}}]}`), 6, all},
		"a list that is not to be had": {faultproxy.Plain(404, "404 page not found"), 6, all},
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/configmaps") }, test.fault)
		_, _, err := readWhole(t.Context(), proxy.Config(), ns, 6, configMapNames(test.count)...)
		var unread *UnreadError
		if !errors.As(err, &unread) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s…", name, err, test.want)
		}
	}
	healthy := faultproxy.Start(t, c.Config())
	client, err := New(healthy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for _, count := range []int{1, 6} {
		request := ObjectRequest{Type: configMapType, Namespace: ns, Names: configMapNames(count), Total: 6}
		if err := client.ForEachObject(t.Context(), []ObjectRequest{request},
			func(*unstructured.Unstructured) error { return full }); !errors.Is(err, full) {
			t.Errorf("%d objects: %v, want what f returned", count, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := readWhole(cancelled, healthy.Config(), ns, 6, "c000"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// statusOf answers with a Status and its details.
func statusOf(code int, status metav1.Status) faultproxy.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		faultproxy.Edit(func(any) any { return status })(statusWriter{w, code}, r, next)
	}
}

// statusWriter replaces the code of an answer.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w statusWriter) WriteHeader(int) { w.ResponseWriter.WriteHeader(w.code) }

// TestWholeReadsSideBySide: many reads are in flight at once.
func TestWholeReadsSideBySide(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 8))
	proxy := faultproxy.Start(t, c.Config())
	var mu sync.Mutex
	waiting := 0
	all := make(chan struct{})
	proxy.On(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/configmaps/") },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			mu.Lock()
			if waiting++; waiting == 8 {
				close(all)
			}
			mu.Unlock()
			select {
			case <-all: // each waits for the last
				next.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})
	objects, _, err := readWhole(t.Context(), proxy.Config(), ns, 1000, configMapNames(8)...)
	names := make([]string, 0, len(objects))
	for name := range objects {
		names = append(names, name)
	}
	slices.Sort(names)
	if err != nil || !slices.Equal(names, configMapNames(8)) {
		t.Errorf("read %v, %v", names, err)
	}
}

// TestListObjectsSelects: what the server is asked to leave out does not come, and what it answers
// is whole.
func TestListObjectsSelects(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 3))
	c.Kubectl(t, "label", "configmap", "c001", "-n", ns, "pick=me")
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		selected Selection
		want     []string
	}{
		{Selection{}, configMapNames(3)},
		{Selection{Labels: "pick=me"}, []string{"c001"}},
		{Selection{Fields: "metadata.name=c002"}, []string{"c002"}},
	} {
		all, err := client.ListObjects(t.Context(), configMapType, ns, test.selected)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range all {
			names = append(names, o.GetName())
			if o.GetKind() != "ConfigMap" || len(o.GetManagedFields()) == 0 {
				t.Errorf("%s is not whole: %v", o.GetName(), o.Object)
			}
		}
		if diff := cmp.Diff(test.want, names); diff != "" {
			t.Errorf("%+v: %s", test.selected, diff)
		}
	}
	_, err = client.ListObjects(t.Context(), configMapType, ns, Selection{Labels: "="})
	var unread *UnreadError
	if !errors.As(err, &unread) {
		t.Errorf("a selector that is none: %v", err)
	}
}

// TestGetMetadata: the data stay where they are.
func TestGetMetadata(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "one", "-n", ns, "--from-literal=key=value")
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := client.GetObjectMeta(t.Context(), configMapType, ns, "one")
	if err != nil {
		t.Fatal(err)
	}
	if o.GetKind() != "ConfigMap" || o.GetAPIVersion() != "v1" || o.GetUID() == "" || len(o.GetManagedFields()) == 0 ||
		o.Object["data"] != nil {
		t.Errorf("read %v", o.Object)
	}
	if _, err := client.GetObjectMeta(t.Context(), configMapType, ns, "two"); !IsAbsent(err, configMapType, "two") {
		t.Errorf("one that is absent: %v", err)
	}
}
