package collect_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// I01: what names an owner in another namespace, under another kind, goes; the owner's own
// dependents stay.
func TestCrossNamespaceReferencesWithWatchCache_I01(t *testing.T) {
	replay(t, crossNamespaceReferences)
}

// I02: the same without a watch cache, and with a collector that starts late, as upstream's do in
// both.
func TestCrossNamespaceReferencesWithoutWatchCache_I02(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers(), testcluster.APIServerArgs("--watch-cache=false"))
	t.Run("loop", func(t *testing.T) {
		crossNamespaceReferences(newStage(t, c, &ours{config: c.Config()}))
	})
	t.Run("collector", func(t *testing.T) {
		crossNamespaceReferences(newStage(t, c, &late{}))
	})
}

// late is the real collector that starts when there is something to collect.
type late struct {
	theirs
	started bool
}

func (l *late) observe(s *stage) {
	if !l.started {
		s.cluster.StartControllers(s, testcluster.Collector)
		l.started = true
	}
	l.theirs.observe(s)
}

func (l *late) settle(s *stage, want []expectation) {
	l.observe(s)
	l.theirs.settle(s, want)
}

func crossNamespaceReferences(s *stage) {
	a, b := s.namespace("a"), s.namespace("b")
	parent := s.create("ConfigMap", "parent", in(b))
	kept := []*object{parent}
	for i := range 10 {
		kept = append(kept, s.create("Secret", fmt.Sprintf("child-%d", i), in(b), by(owner(parent))))
	}
	bad := reworded(owner(parent), "v1", "Pod")
	bad.Name = "invalid"
	var refs []metav1.OwnerReference
	for i := range 25 {
		refs = append(refs, metav1.OwnerReference{APIVersion: "test/v1", Kind: fmt.Sprintf("invalid%d", i), Name: "invalid",
			UID: types.UID(fmt.Sprintf("invalid-%d", i))})
	}
	refs = append(refs, bad)
	var gone, frozen []*object
	for i := range 5 {
		frozen = append(frozen, s.create("ConfigMap", fmt.Sprintf("invalid-child-%d", i), in(a), by(refs...)))
		frozen = append(frozen, s.create("Secret", fmt.Sprintf("invalid-child-a-%d", i), in(a), by(refs...)))
		gone = append(gone, s.create("Secret", fmt.Sprintf("invalid-child-b-%d", i), in(a), by(bad)))
	}
	s.collect(s.gone(gone...), s.untouched(kept...), s.untouched(frozen...))
	s.notJudged(frozen...)
	late := s.create("Secret", "invalid-child-c", in(a), by(bad))
	s.collect(s.gone(late), s.untouched(kept...), s.untouched(frozen...))
}

// I03: pod3 has another owner, and loses the reference to the one that is gone (GC-053).
func TestCascadingDeletion_I03(t *testing.T) {
	replay(t, func(s *stage) {
		gone, remaining := s.create("ReplicationController", "to-be-deleted"), s.create("ReplicationController", "remaining")
		pod1 := s.create("Pod", "pod1", by(owner(gone)))
		pod2 := s.create("Pod", "pod2")
		pod3 := s.create("Pod", "pod3", by(owner(gone), owner(remaining)))
		s.delete(gone, orphanDependents(false))
		s.collect(s.gone(gone, pod1), s.untouched(remaining, pod2), s.stays(pod3, remaining))
	})
}

// I04: to be created with an owner that is not there is legal, and the end.
func TestCreateWithNonExistentOwner_I04(t *testing.T) {
	replay(t, func(s *stage) {
		ref := absent("v1", "ReplicationController", "test.rc.1")
		ref.UID = "doesn't matter"
		s.collect(s.gone(s.create("Pod", "pod", by(ref))))
	})
}

// I05: fifty owners that are deleted in five ways, of which four orphan.
func TestStressingCascadingDeletion_I05(t *testing.T) {
	// It takes more than 10 s beside others: fifty owners are deleted once by the loop and once by
	// the collector.
	ways := []struct {
		finalizers []string
		opts       metav1.DeleteOptions
		orphans    bool
	}{
		{nil, metav1.DeleteOptions{}, true}, // the default of the type (API-010)
		{[]string{plan.OrphanFinalizer}, metav1.DeleteOptions{}, true},
		{[]string{plan.OrphanFinalizer}, orphanDependents(false), false},
		{nil, orphanDependents(true), true},
		{nil, orphan, true},
	}
	replay(t, func(s *stage) {
		const copies, pods = 10, 3
		type family struct {
			rc   *object
			pods []*object
		}
		families := make([]family, copies*len(ways))
		var group errgroup.Group
		group.SetLimit(8)
		for i := range families {
			group.Go(func() error {
				f := &families[i]
				f.rc = s.create("ReplicationController", fmt.Sprintf("rc-%d", i), held(ways[i%len(ways)].finalizers...))
				for j := range pods {
					f.pods = append(f.pods, s.create("Pod", fmt.Sprintf("pod-%d-%d", i, j), by(controlled(f.rc))))
				}
				return nil
			})
		}
		_ = group.Wait()
		var want []expectation
		for i, f := range families {
			way := ways[i%len(ways)]
			s.delete(f.rc, way.opts)
			want = append(want, s.gone(f.rc))
			for _, pod := range f.pods {
				if way.orphans {
					want = append(want, s.stays(pod))
				} else {
					want = append(want, s.gone(pod))
				}
			}
		}
		s.collect(want...)
	})
}

func TestOrphaning_I06(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		var pods []expectation
		for i := range 3 {
			pods = append(pods, s.stays(s.create("Pod", fmt.Sprintf("pod%d", i), by(controlled(rc)))))
		}
		s.delete(rc, orphanDependents(true))
		s.collect(append(pods, s.gone(rc))...)
	})
}

func TestSolidOwnerDoesNotBlockWaitingOwner_I07(t *testing.T) {
	replay(t, func(s *stage) {
		gone, remaining := s.create("ReplicationController", "to-be-deleted"), s.create("ReplicationController", "remaining")
		pod := s.create("Pod", "pod", by(blocking(gone), owner(remaining)))
		s.delete(gone, foreground)
		s.collect(s.gone(gone), s.stays(pod, remaining), s.untouched(remaining))
	})
}

// I08: the owner does not wait for those; they are deleted, and wait for somebody else.
func TestNonBlockingOwnerRefDoesNotBlock_I08(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pod1 := s.create("Pod", "pod1", held("x/y"), by(owner(rc)))
		pod2 := s.create("Pod", "pod2", held("x/y"), by(nonBlocking(rc)))
		s.delete(rc, foreground)
		s.collect(s.gone(rc), s.deleting(pod1, "x/y"), s.deleting(pod2, "x/y"))
		s.leftBecause(plan.ForeignFinalizers, pod1, pod2)
	})
}

// leftBecause expects of the loop that it says why objects are left.
func (s *stage) leftBecause(why plan.ReasonCode, objects ...*object) {
	s.Helper()
	if l := s.loop(); l != nil {
		for _, o := range objects {
			if got := l.left(o); got != why {
				s.Errorf("%s is left because of %q, want %q", o.GetName(), got, why)
			}
		}
	}
}

// I09: each deletion puts the finalizer on again, and it is removed again (API-004).
func TestDoubleDeletionWithFinalizer_I09(t *testing.T) {
	replay(t, func(s *stage) {
		lucy := s.create("Pod", "lucy", held("x/y"))
		for range 2 {
			s.delete(lucy, foreground)
			s.collect(s.deleting(lucy, "x/y"))
		}
		s.release(lucy)
		s.collect(s.gone(lucy))
	})
}

func TestBlockingOwnerRefDoesBlock_I10(t *testing.T) {
	replay(t, func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pod := s.create("Pod", "pod", held("x/y"), by(blocking(rc)))
		s.delete(rc, foreground)
		s.collect(s.deleting(rc, plan.ForegroundFinalizer), s.deleting(pod, "x/y"))
		s.leftBecause(plan.DependentsBlock, rc)
		s.leftBecause(plan.ForeignFinalizers, pod)
		s.release(pod)
		s.collect(s.gone(rc, pod))
	})
}

func TestCustomResourceCascadingDeletion_I11(t *testing.T) {
	replay(t, func(s *stage) {
		gadget := s.create("Gadget", "owner")
		dependent := s.create("Gadget", "dependent", by(owner(gadget)))
		s.delete(gadget, foreground)
		s.collect(s.gone(gadget, dependent))
	})
}

func TestMixedRelationships_I12(t *testing.T) {
	replay(t, func(s *stage) {
		gadget, cm := s.create("Gadget", "owner"), s.create("ConfigMap", "owner")
		ofGadget, ofCM := s.create("ConfigMap", "dependent", by(owner(gadget))),
			s.create("Gadget", "dependent", by(owner(cm)))
		s.delete(gadget, foreground)
		s.collect(s.gone(gadget, ofGadget), s.untouched(cm, ofCM))
		s.delete(cm, foreground)
		s.collect(s.gone(cm, ofCM))
	})
}

// widgets are of a type that comes and goes, on a control plane of their own: a type that is going
// is a gap for everybody.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.apart.example.com}
spec:
  group: apart.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// I13: the collector has seen the instances go, and collects their dependents although their type
// is no more. A run that begins afterwards has not: it keeps them until it is told what instances
// there were (RO-024), or the type is there again and the owner provably is not.
func TestCRDDeletionCascading_I13(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	t.Run("loop", func(t *testing.T) {
		s := newStage(t, c, &ours{config: c.Config()})
		l := s.loop()
		for _, pass := range []string{"first", "second"} {
			widget, cm := s.definedAndDeleted(pass)
			s.collect(s.gone(widget), s.untouched(cm))
			s.leftBecause(plan.OwnerUnresolved, cm)
			if pass == "second" {
				s.define()
			} else {
				l.definitions = []collect.CRD{{
					Object: graph.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition",
						Resource: "customresourcedefinitions", Name: "widgets.apart.example.com"},
					Type: scenarioTypes["Widget"], Instances: map[string]bool{string(widget.GetUID()): true},
				}}
			}
			s.collect(s.gone(widget, cm))
			l.definitions = nil
		}
		s.undefine()
	})
	t.Run("collector", func(t *testing.T) {
		s := newStage(t, c, &theirs{})
		for _, pass := range []string{"first", "second"} {
			s.define()
			c.StartControllers(t, testcluster.Collector)
			widget := s.create("Widget", pass)
			cm := s.create("ConfigMap", pass, by(owner(widget)))
			s.observe()
			s.undefine()
			s.collect(s.gone(cm))
			c.StopControllers(t)
		}
	})
}

// definedAndDeleted makes a type, an instance and its dependent, and removes the type.
func (s *stage) definedAndDeleted(name string) (widget, dependent *object) {
	s.Helper()
	s.define()
	widget = s.create("Widget", name)
	dependent = s.create("ConfigMap", name, by(owner(widget)))
	s.undefine()
	return widget, dependent
}

func (s *stage) define() {
	s.Helper()
	s.cluster.Apply(s, widgets)
	s.served()
}

// served waits until instances can be created.
func (s *stage) served() {
	s.Helper()
	probe := s.draft("Widget", "probe")
	testcluster.Eventually(s, "widgets can be created", func(ctx context.Context) (bool, error) {
		_, err := s.client(probe).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, nil
	})
}

// undefine removes the type and waits until it is gone, and its instances with it.
func (s *stage) undefine() {
	s.Helper()
	s.cluster.Kubectl(s, "delete", "crd", "widgets.apart.example.com", "--wait")
	probe := s.draft("Widget", "probe")
	testcluster.Eventually(s, "widgets are not served", func(ctx context.Context) (bool, error) {
		_, err := s.client(probe).List(ctx, metav1.ListOptions{})
		return apierrors.IsNotFound(err), nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = slices.DeleteFunc(s.kinds, func(kind string) bool { return kind == "Widget" })
}

// I14: a type that cannot be listed, because its objects cannot be converted, keeps nobody else
// from being collected. It keeps a waiting owner, whose dependent can be hidden there; the
// collector lets that go.
func TestCascadingDeleteOnCRDConversionFailure_I14(t *testing.T) {
	// It takes more than 10 s beside others: the collector has to have read the type whose
	// conversion fails.
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	breakConversion(newStage(t, c, &theirs{}))
	play := func(s *stage) {
		rc := s.create("ReplicationController", "rc")
		pod := s.create("Pod", "pod", by(owner(rc)))
		waits := s.create("ConfigMap", "waits")
		s.delete(rc, orphanDependents(false))
		s.delete(waits, foreground)
		l := s.loop()
		if l == nil {
			s.collect(s.gone(rc, pod, waits))
			return
		}
		s.collect(s.gone(rc, pod), s.deleting(waits, plan.ForegroundFinalizer))
		if !slices.ContainsFunc(l.summary.Gaps, func(g v1alpha1.Gap) bool { return g.Resource == "widgets" }) {
			s.Errorf("no gap for widgets: %v", l.summary.Gaps)
		}
	}
	t.Run("loop", func(t *testing.T) { play(newStage(t, c, &ours{config: c.Config()})) })
	t.Run("collector", func(t *testing.T) {
		c.StartControllers(t, testcluster.Collector) // works when it has waited 30 s for the type (GC-012)
		play(newStage(t, c, &theirs{}))
	})
}

// breakConversion stores widgets in two versions, between which nobody converts.
func breakConversion(s *stage) {
	s.Helper()
	s.define()
	s.create("Widget", "one")
	s.cluster.Kubectl(s, "patch", "crd", "widgets.apart.example.com", "--type=merge", "-p", `{"spec":{
		"versions":[
			{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
			{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}],
		"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/convert"}}}}}`)
	testcluster.Eventually(s, "a widget is stored in v2 and widgets cannot be listed",
		func(ctx context.Context) (bool, error) {
			two := s.draft("Widget", "two", as("v2"))
			client := s.api.Resource(schema.GroupVersionResource{Group: "apart.example.com", Version: "v2",
				Resource: "widgets"}).Namespace(s.ns)
			if _, err := client.Create(ctx, two, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				return false, nil
			}
			paged := metav1.ListOptions{Limit: 500} // without, the server says to try again later, and again
			_, err1 := s.client(two).List(ctx, paged)
			_, err2 := client.List(ctx, paged)
			return err1 != nil && err2 != nil, nil
		})
}

// I15: a cluster-scoped owner that the listing does not show, as upstream's collector does not hear
// of it for a while, is looked up.
func TestClusterScopedOwners_I15(t *testing.T) {
	replay(t, func(s *stage) {
		pv := s.create("PersistentVolume", "pv-valid")
		valid := s.create("ConfigMap", "cm-valid", by(owner(pv)))
		missing := s.create("ConfigMap", "cm-missing", by(absent("v1", "PersistentVolume", "missing-name")))
		invalid := s.create("ConfigMap", "cm-invalid", by(absent("unknown.group/v1", "UnknownType", "invalid-name")))
		l := s.loop()
		if l != nil {
			hides(l, s, "persistentvolumes", pv)
		}
		s.collect(s.gone(missing), s.untouched(pv, valid, invalid))
		s.notJudged(invalid)
		if l != nil && !slices.Contains(l.requests(s), http.MethodGet+" "+pv.GetName()) {
			t.Errorf("the owner was not asked for: %v", l.requests(s))
		}
	})
}
