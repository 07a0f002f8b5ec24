package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// planned lists a namespace and plans the deletion of objects in it, given as resource/name; those
// with a dot are cluster-scoped.
func planned(t *testing.T, config *rest.Config, namespace string, roots ...string) (*cluster.Client, *plan.Plan) {
	t.Helper()
	listed := fixture.List(t, config, cluster.ListOptions{Namespace: namespace})
	var ids []graph.ID
	for _, root := range roots {
		resource, name, _ := strings.Cut(root, "/")
		resource, group, _ := strings.Cut(resource, ".")
		ids = append(ids, listed.Find(t, group, resource, namespace, name))
	}
	return listed.Client, plan.New(listed.Graph, ids, plan.Background, plan.Options{Links: link.New(listed.Graph)})
}

// head stands for the plan as it is printed, which package render makes.
func head() *v1alpha1.Plan {
	return &v1alpha1.Plan{TypeMeta: v1alpha1.TypeMeta("Plan"), Policy: "Background",
		Roots: []v1alpha1.ObjectRef{{Kind: "ConfigMap", Name: "---"}}}
}

// left names what is in a folder.
func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// workload is one of everything: a Deployment with what its controllers would make, a Secret with
// bytes that are no text, a custom resource, text that is hostile to YAML, and one that another
// owner keeps.
const workload = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const content = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, env: [{name: "YES", value: "no"}]}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: $NS, annotations: {owner: deployment/web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1-a, namespace: $NS, labels: {app: web}, annotations: {owner: replicaset/web-1}}
spec: {containers: [{name: c, image: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1-b, namespace: $NS, labels: {app: web}, annotations: {owner: replicaset/web-1}}
spec: {containers: [{name: c, image: c}]}
---
apiVersion: v1
kind: Secret
metadata: {name: bytes, namespace: $NS, annotations: {owner: deployment/web}, finalizers: [example.com/hold]}
data: {bytes: AAH+/w0KLS0tCg==}
---
apiVersion: $NS.example.com/v1
kind: Widget
metadata: {name: widget, namespace: $NS, annotations: {owner: deployment/web}}
spec: {number: 9007199254740993, fraction: 0.1, "<<": merge, nothing: null, "zz": "end\n\u2028"}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: hostile
  namespace: $NS
  annotations:
    owner: deployment/web
    example.com/document: "---\nkind: Secret\nmetadata: {name: forged}\n---\n"
    example.com/terminal: "\x1b[2J\x1b]0;owned\x07\r\n\x7f\u009b"
    example.com/lines: "a\n\u2028b\u2029"
data: {tab: "\t- x", block: "  two\n one\n\n"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: $NS}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shared, namespace: $NS, annotations: {owner: deployment/web, owner2: configmap/other}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: apart, namespace: $NS}
`

// makeWorkload makes it and gives each object the owners that its annotations name.
func makeWorkload(t *testing.T, c *testcluster.Cluster, ns string) {
	t.Helper()
	c.Apply(t, strings.ReplaceAll(workload, "$NS", ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "crd", "widgets."+ns+".example.com", "--wait=false") })
	create := c.Command(t.Context(), "create", "-f", "-") // applied on the server, some of the text would be no YAML
	create.Stdin = strings.NewReader(strings.ReplaceAll(content, "$NS", ns))
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for dependent, owners := range map[string][]string{
		"replicaset/web-1": {"deployment/web"}, "pod/web-1-a": {"replicaset/web-1"}, "pod/web-1-b": {"replicaset/web-1"},
		"secret/bytes": {"deployment/web"}, "widgets." + ns + ".example.com/widget": {"deployment/web"},
		"configmap/hostile": {"deployment/web"},
		"configmap/shared":  {"deployment/web", "configmap/other"},
	} {
		var refs []string
		for _, owner := range owners {
			refs = append(refs, c.Kubectl(t, "get", owner, "-n", ns, "-o",
				`jsonpath={"{"}"apiVersion":"{.apiVersion}","kind":"{.kind}","name":"{.metadata.name}","uid":"{.metadata.uid}"{"}"}`))
		}
		c.Kubectl(t, "patch", dependent, "-n", ns, "--type=merge", "-p",
			`{"metadata":{"ownerReferences":[`+strings.Join(refs, ",")+`]}}`)
	}
}

// undated is an archive without the time at which it was written.
func undated(archive string) string {
	return regexp.MustCompile("(?m)^archivedAt: .*$").ReplaceAllString(archive, "archivedAt: now")
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestArchiveHasEveryObjectAsTheServerAnswers: the plan first, then each object that goes or loses
// a reference, owners first, and nothing else; in a file that is for its owner alone.
func TestArchiveHasEveryObjectAsTheServerAnswers(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	makeWorkload(t, c, ns)
	client, p := planned(t, c.Config(), ns, "deployments.apps/web")
	path := filepath.Join(t.TempDir(), "archive.yaml")
	saved, err := Save(t.Context(), client, path, OfPlan(p), head())
	if err != nil || saved.Objects != 8 || len(saved.Gone) != 0 {
		t.Fatalf("%+v, %v; want 8 objects", saved, err)
	}
	stream, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := head()
	begin.Archived, begin.ArchivedAt = &saved.Objects, r.Head.ArchivedAt
	if err := r.Close(); err != nil || begin.ArchivedAt == nil || time.Since(begin.ArchivedAt.Time).Abs() > time.Minute {
		t.Errorf("archived at %v, %v", begin.ArchivedAt, err)
	}
	begin.Cluster = c.Kubectl(t, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	first, err := yaml.Marshal(begin)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(stream, append(first, "---\n"...)) {
		t.Errorf("the archive begins with %.200s, want %s", stream, first)
	}
	docs := documents(t, stream)[1:]
	dyn := dynamic.NewForConfigOrDie(c.Config())
	seen := map[string]bool{}
	for _, doc := range docs {
		metadata := doc["metadata"].(map[string]any)
		kind, name := doc["kind"].(string), metadata["name"].(string)
		for _, ref := range list(metadata["ownerReferences"]) {
			if uid := ref.(map[string]any)["uid"].(string); !seen[uid] && name != "shared" {
				t.Errorf("%s %s stands before its owner", kind, name)
			}
		}
		seen[metadata["uid"].(string)] = true
		gv, err := schema.ParseGroupVersion(doc["apiVersion"].(string))
		if err != nil {
			t.Fatal(err)
		}
		want, err := dyn.Resource(gv.WithResource(strings.ToLower(kind)+"s")).Namespace(ns).Get(t.Context(), name,
			metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Object, doc); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", kind, name, diff)
		}
	}
	if len(docs) != 8 || len(seen) != 8 {
		t.Errorf("%d documents, %d objects, want 8", len(docs), len(seen))
	}
	again := filepath.Join(t.TempDir(), "again.yaml.gz")
	if _, err := Save(t.Context(), client, again, OfPlan(p), head()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(undated(string(stream)), undated(unzipped(t, again))); diff != "" {
		t.Errorf("the second archive of the same plan differs (-first +second):\n%s", diff)
	}
}

// TestArchiveHasThePlansObjectsAndNoOthers_P02: one that is gone and one that was created again
// since the plan was made are not saved, and said to be gone; one that was changed is saved as it
// is now.
func TestArchiveHasThePlansObjectsAndNoOthers_P02(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, name := range []string{"gone", "again", "changed"} {
		c.Kubectl(t, "create", "configmap", name, "-n", ns)
	}
	client, p := planned(t, c.Config(), ns, "configmaps/gone", "configmaps/again", "configmaps/changed")
	c.Kubectl(t, "delete", "configmap", "gone", "again", "-n", ns)
	c.Kubectl(t, "create", "configmap", "again", "-n", ns, "--from-literal=secret=new")
	c.Kubectl(t, "label", "configmap", "changed", "-n", ns, "now=yes")
	path := filepath.Join(t.TempDir(), "archive.yaml")
	saved, err := Save(t.Context(), client, path, OfPlan(p), head())
	if err != nil {
		t.Fatal(err)
	}
	var gone []string
	for _, ref := range saved.Gone {
		gone = append(gone, ref.Name)
	}
	if diff := cmp.Diff([]string{"again", "gone"}, gone); diff != "" || saved.Objects != 1 {
		t.Errorf("%d objects saved; gone (-want +got):\n%s", saved.Objects, diff)
	}
	stream, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(stream), "secret") || !strings.Contains(string(stream), `now: "yes"`) {
		t.Errorf("%v in %s", err, stream)
	}
}

// TestArchiveIsWholeOrNotThere: an object that cannot be read, or a file that cannot be written,
// leaves no file at all.
func TestArchiveIsWholeOrNotThere(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, name := range []string{"a", "b", "c"} {
		c.Kubectl(t, "create", "configmap", name, "-n", ns)
	}
	proxy := faultproxy.Start(t, c.Config())
	client, p := planned(t, proxy.Config(), ns, "configmaps/a", "configmaps/b", "configmaps/c")
	one := faultproxy.Path("/configmaps/b")
	for name, fault := range map[string]faultproxy.Fault{
		"an error":        faultproxy.Status(500, metav1.StatusReasonInternalError, "etcd is full"),
		"forbidden":       faultproxy.Status(403, metav1.StatusReasonForbidden, "no"),
		"not served":      faultproxy.Plain(404, "404 page not found"),
		"no API server":   faultproxy.Plain(200, "<html>log in</html>"),
		"half an object":  faultproxy.Truncate(50),
		"an empty answer": faultproxy.Plain(200, ""),
	} {
		dir := t.TempDir()
		proxy.On(one, fault)
		_, err := Save(t.Context(), client, filepath.Join(dir, "archive.yaml"), OfPlan(p), head())
		var unread *cluster.UnreadError
		if !errors.As(err, &unread) || unread.Name != "b" {
			t.Errorf("%s: %v, want an error about b", name, err)
		}
		if files := left(t, dir); len(files) != 0 {
			t.Errorf("%s: there is %v", name, files)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	proxy.On(one, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		cancel()
		<-r.Context().Done()
	})
	dir := t.TempDir()
	if _, err := Save(ctx, client, filepath.Join(dir, "archive.yaml"), OfPlan(p), head()); !errors.Is(err,
		context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if files := left(t, dir); len(files) != 0 {
		t.Errorf("interrupted: there is %v", files)
	}
	proxy.On(one, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if err := os.WriteFile(filepath.Join(dir, "archive.yaml"), []byte("older"), 0o644); err != nil {
			t.Error(err)
		}
		next.ServeHTTP(w, r)
	})
	if _, err := Save(t.Context(), client, filepath.Join(dir, "archive.yaml"), OfPlan(p), head()); !errors.Is(err,
		os.ErrExist) {
		t.Errorf("a file has come up meanwhile: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "archive.yaml")); string(text) != "older" || len(left(t, dir)) != 1 {
		t.Errorf("it became %q, %v; beside it %v", text, err, left(t, dir))
	}
}
