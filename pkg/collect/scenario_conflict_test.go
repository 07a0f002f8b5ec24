package collect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// These are upstream's TestConflictingData: references that contradict what there is. Upstream
// plays most of them in several orders of events, for which the lists come in several orders here.

// order has the loop hear of one type before another.
func (s *stage) order(first, then string) {
	if l := s.loop(); l != nil {
		after(l.faults(s), first, then)
	}
}

// warned expects the collector's event on an object whose owner cannot be in its namespace. The
// loop writes no events.
func (s *stage) warned(o *object) expectation {
	return func(ctx context.Context) (string, error) {
		if s.loop() != nil {
			return "", nil
		}
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		events, err := s.api.Resource(schema.GroupVersionResource{Version: "v1",
			Resource: "events"}).Namespace(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "reason=OwnerRefInvalidNamespace,involvedObject.uid=" + string(o.GetUID()),
		})
		if err == nil && len(events.Items) == 0 {
			return "no event on " + o.GetName(), nil
		}
		return "", err
	}
}

// notJudged expects of the loop that it says of objects that it cannot judge them (P-21), and that
// it has written nothing.
func (s *stage) notJudged(objects ...*object) {
	s.Helper()
	l := s.loop()
	if l == nil {
		return
	}
	for _, o := range objects {
		if why := l.left(o); why != plan.OwnerUnresolved {
			s.Errorf("%s is left because of %q", o.GetName(), why)
		}
	}
}

// nothingAsked expects of the loop that it has sent no request but for lists.
func (s *stage) nothingAsked() {
	s.Helper()
	if l := s.loop(); l != nil && len(l.requests(s)) > 0 {
		s.Errorf("requests %v", l.requests(s))
	}
}

func TestGoodChildInNs1ClusterScopedOwner_U20(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("pods", "nodes")
		node := s.create("Node", "node")
		pod := s.create("Pod", "pod", by(owner(node)))
		s.collect(s.untouched(node, pod))
		s.nothingAsked()
	})
}

// U21 and U22: the reference to an owner in another namespace is looked up in the dependent's own
// (GC-047).
func TestBadChildInNs1OwnerInNs2ChildFirst_U21(t *testing.T) {
	replay(t, func(s *stage) { crossNamespace(s, s.ns, s.namespace("z")) })
}

func TestBadChildInNs1OwnerInNs2OwnerFirst_U22(t *testing.T) {
	replay(t, func(s *stage) { crossNamespace(s, s.namespace("z"), s.ns) })
}

// crossNamespace is played in namespaces that sort, and so are listed, in the order that is wanted.
func crossNamespace(s *stage, ofChild, ofOwner string) {
	parent := s.create("Pod", "owner", in(ofOwner))
	child := s.create("Pod", "child", in(ofChild), by(owner(parent)))
	s.collect(s.gone(child), s.untouched(parent), s.warned(child))
}

// U23 and U24: a cluster-scoped object cannot have a namespaced owner. It is never collected, and
// nobody is asked (GC-048).
func TestBadClusterScopedChildOwnerInNs1ChildFirst_U23(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("nodes", "pods")
		badScope(s)
	})
}

func TestBadClusterScopedChildOwnerInNs1OwnerFirst_U24(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("pods", "nodes")
		badScope(s)
	})
}

func badScope(s *stage) {
	pod := s.create("Pod", "pod")
	node := s.create("Node", "node", by(owner(pod)))
	s.collect(s.untouched(pod, node), s.warned(node))
	s.notJudged(node)
	s.nothingAsked()
}

// U25: an owner may be named in any version that is served (GC-047).
func TestGoodChildExistingOwnerWithNonPreferredAccessibleAPIVersion_U25(t *testing.T) {
	replay(t, func(s *stage) {
		gadget := s.create("Gadget", "gadget")
		ref := reworded(owner(gadget), "scenario.example.com/v1beta1", "Gadget")
		pod := s.create("Pod", "pod", by(ref))
		s.collect(s.untouched(gadget, pod))
		s.delete(gadget, background)
		s.collect(s.gone(gadget, pod))
	})
}

// U26 and U27: a version that is not served proves nothing, not even that the owner is gone when it
// is (GC-050, X-03).
func TestChildExistingOwnerWithInaccessibleAPIVersionChildFirst_U26(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("pods", "deployments")
		unserved(s)
	})
}

func TestChildExistingOwnerWithInaccessibleAPIVersionOwnerFirst_U27(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("deployments", "pods")
		unserved(s)
	})
}

func unserved(s *stage) {
	deployment := s.create("Deployment", "deployment")
	pod := s.create("Pod", "pod", by(reworded(owner(deployment), "extensions/v1beta1", "Deployment")))
	s.collect(s.untouched(deployment, pod))
	s.notJudged(pod)
	s.delete(deployment, background)
	s.collect(s.gone(deployment), s.untouched(pod))
	s.notJudged(pod)
	if l := s.loop(); l != nil {
		l.terms.UnservedKinds = map[[2]string]bool{{"extensions/v1beta1", "Deployment"}: true}
		s.collect(s.gone(pod))
	}
}

// U28 and U29: two dependents name one uid that is not there, one of them in a version that is not
// served. Only the other is collected, whichever comes first in the list.
func TestChildNonExistentOwnerInaccessibleParentAPIVersionFirst_U28(t *testing.T) {
	replay(t, func(s *stage) { unservedAndAbsent(s, "1", "2") })
}

func TestChildNonExistentOwnerAccessibleParentAPIVersionFirst_U29(t *testing.T) {
	replay(t, func(s *stage) { unservedAndAbsent(s, "2", "1") })
}

func unservedAndAbsent(s *stage, unservedName, servedName string) {
	ref := absent("apps/v1", "Deployment", "deployment")
	objects := map[string]*object{}
	refs := map[string]metav1.OwnerReference{unservedName: reworded(ref, "extensions/v1beta1", "Deployment"),
		servedName: ref}
	for _, name := range []string{"1", "2"} {
		objects[name] = s.create("Pod", name, by(refs[name]))
	}
	s.collect(s.gone(objects[servedName]), s.untouched(objects[unservedName]))
	s.notJudged(objects[unservedName])
}

// U30 to U32: a reference has the uid of a live object of another kind. Nothing is at what it
// names, so its object goes (GC-022, X-01); those that name the owner rightly stay. Upstream's
// three differ in when the collector hears of whom; here who is listed first does.
func TestBadChildGoodChildBadParentDeleteGoodParent_U30(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("pods", "deployments")
		wrongKind(s, "a-bad", "b-good")
	})
}

func TestBadChildGoodChildGoodParentBadParentDelete_U31(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("deployments", "pods")
		wrongKind(s, "a-bad", "b-good")
	})
}

func TestGoodChildBadChildGoodParent_U32(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("pods", "deployments")
		wrongKind(s, "b-bad", "a-good")
	})
}

func wrongKind(s *stage, badName, goodName string) {
	deployment := s.create("Deployment", "deployment")
	ref := reworded(owner(deployment), "v1", "Secret")
	ref.Name = "secret"
	var bad, good *object
	for _, name := range slices.Sorted(slices.Values([]string{badName, goodName})) {
		if name == badName {
			bad = s.create("Pod", name, by(ref))
		} else {
			good = s.create("Pod", name, by(owner(deployment)))
		}
	}
	if l := s.loop(); l != nil {
		l.terms.KeepMismatched = true
		s.collect(s.untouched(deployment, good, bad))
		s.notJudged(bad)
		l.terms.KeepMismatched = false
	}
	s.collect(s.gone(bad), s.untouched(deployment, good))
}

// U33 and U35: a cluster-scoped and a namespaced object name a pod that is not there. The
// namespaced one goes.
func TestClusterScopedBadChildNamespacedGoodChildMissingParent_U33(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("nodes", "pods")
		missingParent(s)
	})
}

func TestNamespacedGoodChildClusterScopedBadChildMissingParent_U35(t *testing.T) {
	replay(t, func(s *stage) {
		s.order("pods", "nodes")
		missingParent(s)
	})
}

func missingParent(s *stage) {
	ref := absent("v1", "Pod", "parent")
	node := s.create("Node", "node", by(ref))
	pod := s.create("Pod", "pod", by(ref))
	s.collect(s.gone(pod), s.untouched(node))
	s.notJudged(node)
}

// U34: the pod is there, and is heard of last. The loop is told of it by a live read: its listing
// leaves it out.
func TestClusterScopedBadChildNamespacedGoodChildLateObservedParent_U34(t *testing.T) {
	replay(t, func(s *stage) {
		parent := s.create("Pod", "parent")
		pod := s.create("Pod", "pod", by(owner(parent)))
		node := s.create("Node", "node", by(owner(parent)))
		l := s.loop()
		if l != nil {
			hides(l, s, "pods", parent)
		}
		s.collect(s.untouched(parent, pod, node), s.warned(node))
		s.notJudged(node)
		if l != nil {
			if want, got := []string{"GET " + s.ns + "/pods/parent"}, slices.Compact(l.requests(s)); !slices.Equal(got, want) {
				t.Errorf("requests %v, want %v", got, want)
			}
		}
	})
}

// U36: the object is changed between being judged and being deleted: first in its references, which
// makes it another case, then in what does not matter. Upstream then deletes without a
// resourceVersion; the loop reads it again and keeps to it.
func TestResourceVersionConflictBetweenGetAndDelete_U36(t *testing.T) {
	replay(t, func(s *stage) {
		parent := s.create("Pod", "parent")
		pod := s.create("Pod", "pod", by(owner(parent)))
		l := s.loop()
		var d deletions
		if l != nil {
			d.before = []func(){
				func() { s.own(pod, absent("rbac.authorization.k8s.io/v1", "Role", "role")) },
				func() { s.patch(pod, map[string]any{"labels": map[string]any{"un": "related"}}) },
			}
			l.faults(s).On(deletes(pod), d.fault)
		}
		s.delete(parent, background)
		s.collect(s.gone(parent, pod))
		if l == nil {
			return
		}
		if want := []string{"409", "409", "200"}; !slices.Equal(d.answers, want) {
			t.Errorf("the deletions were answered with %v, want %v", d.answers, want)
		}
		if !slices.Contains(l.requests(s), "GET "+s.ns+"/roles/role") {
			t.Errorf("the other owner was not asked for: %v", l.requests(s))
		}
	})
}

// deletions changes an object before it is deleted, each time another way.
type deletions struct {
	before  []func()
	answers []string // statuses; "bare" for a deletion that carries no uid or no resourceVersion
}

func (d *deletions) fault(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var opts metav1.DeleteOptions
	if err := json.Unmarshal(body, &opts); err != nil || opts.Preconditions == nil || opts.Preconditions.UID == nil ||
		opts.Preconditions.ResourceVersion == nil {
		d.answers = append(d.answers, "bare")
		return
	}
	if n := len(d.answers); n < len(d.before) {
		d.before[n]()
	}
	next.ServeHTTP(&status{w, d}, r)
}

// status notes the status of an answer.
type status struct {
	http.ResponseWriter
	d *deletions
}

func (s *status) WriteHeader(code int) {
	s.d.answers = append(s.d.answers, fmt.Sprint(code))
	s.ResponseWriter.WriteHeader(code)
}
