package collect

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestEventsOfMisplacedReferences_X06 writes the collector's event, word for word, about references
// to owners in another namespace, and about nothing else.
func TestEventsOfMisplacedReferences_X06(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	there, s, ending := newFixture(t, c), newFixture(t, c), newFixture(t, c)
	there.make("owner")
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: there.uids["owner"]}
	s.make("solid", "absent < nobody", "healthy < solid", "kept < solid")
	s.ownedBy("misplaced", owner)
	s.uids["owner"] = owner.UID
	s.own("kept", "owner")
	role := s.role("dependent", owner)
	ending.ownedBy("misplaced", owner)
	if err := ending.client.CoreV1().Namespaces().Delete(t.Context(), ending.namespace,
		metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	var written, refused []string
	opts := Options{
		Allow: func(g *graph.Graph, id graph.ID) bool { return s.ours()(g, id) || ending.ours()(g, id) },
		Warned: func(r graph.Ref, err error) {
			switch {
			case err == nil:
				written = append(written, r.Name)
			case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
				refused = append(refused, r.Name)
			default:
				t.Errorf("%s: %v", r.Name, err)
			}
		},
	}
	s.run(newClient(t, c), opts)
	slices.Sort(written)
	if want := []string{"kept", "misplaced", role.Name}; !slices.Equal(written, want) {
		t.Errorf("events about %v, want %v", written, want)
	}
	if !slices.Equal(refused, []string{"misplaced"}) {
		t.Errorf("events refused about %v", refused)
	}
	s.check("healthy < solid", "kept < solid", "solid") // what is misplaced is collected all the same
	for _, about := range []struct{ namespace, in, kind, name string }{
		{s.namespace, s.namespace, "ConfigMap", "misplaced"}, {s.namespace, s.namespace, "ConfigMap", "kept"},
		{"", metav1.NamespaceDefault, "ClusterRole", role.Name},
	} {
		list, err := s.client.CoreV1().Events(about.in).List(t.Context(),
			metav1.ListOptions{FieldSelector: "involvedObject.name=" + about.name})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 {
			t.Errorf("%d events about %s", len(list.Items), about.name)
			continue
		}
		e := list.Items[0]
		message := "ownerRef [v1/ConfigMap, namespace: " + about.namespace + ", name: owner, uid: " + string(owner.UID) +
			`] does not exist in namespace "` + about.namespace + `"`
		if e.Type != "Warning" || e.Reason != "OwnerRefInvalidNamespace" || e.Message != message ||
			e.Source.Component != "garbage-collector-controller" ||
			e.InvolvedObject.Kind != about.kind || e.InvolvedObject.Namespace != about.namespace || e.InvolvedObject.UID == "" ||
			e.Count != 1 {
			t.Errorf("%+v", e)
		}
		if !strings.HasPrefix(e.Name, about.name+".") {
			t.Errorf("named %s", e.Name)
		}
	}
}

// TestNoEventsUnlessAskedFor_X06: without it nothing but deletes and patches is sent.
func TestNoEventsUnlessAskedFor_X06(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	there, s := newFixture(t, c), newFixture(t, c)
	there.make("owner")
	s.ownedBy("misplaced", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner",
		UID: there.uids["owner"]})
	s.run(newClient(t, c), Options{Allow: s.ours()})
	s.check()
	list, err := s.client.CoreV1().Events(s.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) > 0 {
		t.Errorf("%v, events %v", err, list.Items)
	}
}
