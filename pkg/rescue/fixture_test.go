package rescue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// hold is a finalizer that nobody removes.
const hold = "example.com/hold"

// force overrides that nobody knows who removes the finalizer.
var force = unfinalize.Overrides{Force: true}

// scene is a namespace with an owner, another owner and dependents of two types.
type scene struct {
	t         *testing.T
	c         *testcluster.Cluster
	namespace string
	archive   string
	// known is what is known of finalizers.
	known *finalizer.Registry
	// uids are those of the objects as they were made, by TYPE/NAME.
	uids map[string]string
}

// dependents are those of the owner, as TYPE/NAME.
var dependents = []string{"configmap/a", "secret/b"}

// newScene makes the objects: a has the owner behind another one, with both flags; b has only the
// owner.
func newScene(t *testing.T, c *testcluster.Cluster, finalizers ...string) *scene {
	t.Helper()
	s := &scene{t: t, c: c, namespace: c.Namespace(t), archive: filepath.Join(t.TempDir(), "rescue.yaml"),
		known: fixture.Packs(t), uids: map[string]string{}}
	list, err := json.Marshal(finalizers)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: `+s.namespace+`}}`)
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: `+s.namespace+
		`, labels: {app: shop}, finalizers: `+string(list)+`}, data: {key: value}}`)
	s.note("configmap/other", "configmap/owner")
	s.dependent("ConfigMap", "a", s.reference("other", ""),
		s.reference("owner", "controller: true, blockOwnerDeletion: true"))
	s.dependent("Secret", "b", s.reference("owner", ""))
	s.note(dependents...)
	t.Cleanup(func() {
		for _, name := range append(slices.Clone(dependents), "configmap/owner") {
			// if it is still there
			_, _ = c.Try(context.Background(), "", "patch", name, "-n", s.namespace, "--type=merge", "-p",
				`{"metadata":{"finalizers":null}}`)
		}
	})
	return s
}

func (s *scene) reference(owner, flags string) string {
	if flags != "" {
		flags = ", " + flags
	}
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s%s}", owner, s.uids["configmap/"+owner], flags)
}

func (s *scene) dependent(kind, name string, references ...string) {
	s.t.Helper()
	s.c.Apply(s.t, fmt.Sprintf(`{apiVersion: v1, kind: %s, metadata: {name: %s, namespace: %s, ownerReferences: [%s]}}`,
		kind, name, s.namespace, strings.Join(references, ", ")))
}

func (s *scene) note(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.uids[name] = string(s.get(name).GetUID())
	}
}

// get reads an object, which has to be there.
func (s *scene) get(name string) *unstructured.Unstructured {
	s.t.Helper()
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(s.c.Kubectl(s.t, "get", name, "-n", s.namespace, "-o", "json")),
		&o.Object); err != nil {
		s.t.Fatal(err)
	}
	return o
}

func (s *scene) delete(policy string) {
	s.t.Helper()
	s.c.Kubectl(s.t, "delete", "configmap", "owner", "-n", s.namespace, "--wait=false", "--cascade="+policy)
}

// plan plans the rescue of the owner through a kubeconfig.
func (s *scene) plan(kubeconfig string, overrides unfinalize.Overrides) (*selection.Query, *rescue.Planned, error) {
	s.t.Helper()
	config, client, catalog := fixture.ConnectFlags(s.t, kubeconfig)
	q, err := selection.NewQuery(s.t.Context(), config, client, catalog,
		selection.Request{Namespace: s.namespace, Args: []string{"configmap/owner"}})
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := rescue.Plan(s.t.Context(), q, s.known,
		rescue.Request{Archive: s.archive, Overrides: overrides, DryRun: true})
	return q, p, err
}

// rescue plans and performs.
func (s *scene) rescue(kubeconfig string, overrides unfinalize.Overrides, opts rescue.Options) *rescue.Outcome {
	s.t.Helper()
	q, p, err := s.plan(kubeconfig, overrides)
	if err != nil {
		s.t.Fatal(err)
	}
	if opts.Timeout == 0 {
		opts.Timeout = time.Minute
	}
	return rescue.Perform(s.t.Context(), q, s.known, p, opts)
}

// rescued fails the test unless the owner is there again with another uid and its content, and the
// dependents are the same objects with the references that they had, to the new uid.
func (s *scene) rescued() {
	s.t.Helper()
	owner := s.get("configmap/owner")
	if string(owner.GetUID()) == s.uids["configmap/owner"] || owner.GetDeletionTimestamp() != nil ||
		owner.GetLabels()["app"] != "shop" {
		s.t.Errorf("the owner is %v", owner.Object["metadata"])
	}
	if data, _, _ := unstructured.NestedStringMap(owner.Object, "data"); data["key"] != "value" {
		s.t.Errorf("the owner has the data %v", data)
	}
	s.is("configmap/a", "other", "owner controller block")
	s.is("secret/b", "owner")
}

// is fails the test unless a dependent is the object that it was, and has these references.
func (s *scene) is(name string, want ...string) {
	s.t.Helper()
	o := s.get(name)
	if string(o.GetUID()) != s.uids[name] || o.GetDeletionTimestamp() != nil {
		s.t.Errorf("%s is another object, or is being deleted: %v", name, o.Object["metadata"])
	}
	now := s.get("configmap/owner").GetUID()
	var got []string
	for _, r := range o.GetOwnerReferences() {
		words := r.Name
		if r.Controller != nil && *r.Controller {
			words += " controller"
		}
		if r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion {
			words += " block"
		}
		if r.Name == "owner" && r.UID != now {
			words += " with the old uid"
		}
		got = append(got, words)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%s has the references %q, want %q", name, got, want)
	}
}

// collected returns when the collector has done all that it had to do when it was called: it has
// deleted an object that came last and whose owner is absent.
func (s *scene) collected() {
	s.t.Helper()
	name := fmt.Sprintf("canary-%d", time.Now().UnixNano())
	s.c.Apply(s.t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: `+s.namespace+
		`, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: absent, uid: `+name+`}]}}`)
	testcluster.Eventually(s.t, "the collector to delete what has no owner", func(ctx context.Context) (bool, error) {
		out, err := s.c.Try(ctx, "", "get", "configmap", name, "-n", s.namespace, "--ignore-not-found")
		return strings.TrimSpace(out) == "", err
	})
}
