package restore

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// world is a namespace in which ConfigMaps own each other.
type world struct {
	t         *testing.T
	config    *rest.Config
	client    kubernetes.Interface
	namespace string
}

func newWorld(t *testing.T) *world {
	c := testcluster.Shared(t)
	return &world{t, c.Config(), kubernetes.NewForConfigOrDie(c.Config()), c.Namespace(t)}
}

// edge is an ownerReference of the world.
type edge struct {
	dependent, owner  string
	controller, block bool
}

// make creates objects, and then the references between them.
func (w *world) make(names []string, edges []edge) {
	w.t.Helper()
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	made := map[string]*corev1.ConfigMap{}
	for _, name := range names {
		o, err := maps.Create(w.t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"name": name}},
			metav1.CreateOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		made[name] = o
	}
	for _, name := range names {
		o := made[name]
		for _, e := range edges {
			if e.dependent == name {
				o.OwnerReferences = append(o.OwnerReferences, reference(made[e.owner], e))
			}
		}
		if len(o.OwnerReferences) > 0 {
			if _, err := maps.Update(w.t.Context(), o, metav1.UpdateOptions{}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

func reference(owner *corev1.ConfigMap, e edge) metav1.OwnerReference {
	r := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}
	if e.controller {
		r.Controller = &e.controller
	}
	if e.block {
		r.BlockOwnerDeletion = &e.block
	}
	return r
}

// save writes an archive of all objects of the world.
func (w *world) save() string {
	w.t.Helper()
	listed := fixture.List(w.t, w.config, cluster.ListOptions{Namespace: w.namespace})
	var ids []graph.ID
	for id := range listed.Graph.InNamespace(w.namespace) {
		if r := listed.Graph.Ref(id); listed.Graph.Observed(id) && r.Resource == "configmaps" && r.Name != rootCA {
			ids = append(ids, id)
		}
	}
	file := filepath.Join(w.t.TempDir(), "archive.yaml")
	head := &v1alpha1.Plan{TypeMeta: v1alpha1.TypeMeta("Plan")}
	if _, err := archive.Save(w.t.Context(), listed.Client, file, archive.Contents{Graph: listed.Graph, Objects: ids},
		head); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// delete deletes objects, and the collector is not there to delete more.
func (w *world) delete(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := w.client.CoreV1().ConfigMaps(w.namespace).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// plan plans a restore.
func (w *world) plan(file string, opts Options) (*Plan, *cluster.Client) {
	w.t.Helper()
	client, catalog := fixture.Connect(w.t, w.config)
	p, err := New(w.t.Context(), client, catalog, file, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return p, client
}

// restore restores, and nothing may fail.
func (w *world) restore(file string, opts Options) *Result {
	w.t.Helper()
	p, client := w.plan(file, opts)
	r, err := p.Perform(w.t.Context(), client, PerformOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range r.Failed {
		w.t.Errorf("%s %s: %v", f.Step.Verb, f.Step.Object.Name, f.Err)
	}
	return r
}

// shape says which objects there are and how they own each other, without the uids. A reference to
// what does not exist is said, too.
func (w *world) shape() []string {
	w.t.Helper()
	all, err := w.client.CoreV1().ConfigMaps(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	names := map[string]string{}
	for _, o := range all.Items {
		names[string(o.UID)] = o.Name
	}
	var lines []string
	for _, o := range all.Items {
		if o.Name == rootCA {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %v", o.Name, o.Data))
		for _, r := range o.OwnerReferences {
			owner := names[string(r.UID)]
			if owner == "" {
				owner = "absent " + r.Name
			}
			lines = append(lines, fmt.Sprintf("%s < %s controller %t block %t", o.Name, owner, r.Controller != nil &&
				*r.Controller, r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion))
		}
	}
	slices.Sort(lines)
	return lines
}
