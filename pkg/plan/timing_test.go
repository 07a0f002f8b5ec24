package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// scenario is a cascade in which it matters what the collector takes up first: eight goes with four
// and the root if it loses the reference to seven, which orphans it, before it loses those; and
// stays if seven is still there when they are gone.
func scenario(t *testing.T) *small {
	s := newSmall(t)
	s.add(configMaps, "root")
	s.add(sets, "one", to(configMaps, "root"))
	s.add(sets, "two", to(sets, "one"))
	s.add(secrets, "three", to(configMaps, "root"))
	s.add(sets, "four", to(sets, "two"))
	s.add(sets, "six", to(sets, "two"))
	s.add(pods, "seven", to(secrets, "three"), to(sets, "six")).Finalizers = []string{OrphanFinalizer}
	s.add(configMaps, "eight", to(sets, "four"), to(pods, "seven"), to(configMaps, "root"))
	return s
}

// TestFateThatDependsOnWhoIsFirstIsAnnounced: an object belongs to owners that go and to one that
// orphans.
func TestFateThatDependsOnWhoIsFirstIsAnnounced(t *testing.T) {
	for _, policy := range []Policy{Background, Foreground} {
		p := scenario(t).plan(policy, "root")
		if !p.DependsOnTiming || names(p.Graph, p.Unsettled) != "eight" {
			t.Errorf("%s: depends on timing: %t, unsettled: %q; want eight", policy, p.DependsOnTiming,
				names(p.Graph, p.Unsettled))
		}
		if code, cause := reasonOf(p, "eight"); code == OwnerOrphans && cause != "seven" {
			t.Errorf("%s: eight is left because of %s, and it is seven that orphans", policy, cause)
		}
	}
}

// TestRootThatIsDeletedAMomentLater: before that it is solid, so that an object that is never gone
// loses the reference to the first root, which does not wait then.
func TestRootThatIsDeletedAMomentLater(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "first")
	s.add(configMaps, "between", block(configMaps, "first"))
	s.add(sets, "later")
	s.add(secrets, "stays", to(sets, "later"), to(configMaps, "first"), block(configMaps, "between"))
	s.add(roles, "unresolvable", block(secrets, "stays"))
	p := s.plan(Foreground, "first", "later")
	if !p.DependsOnTiming || names(p.Graph, p.Unsettled) != "between first stays" {
		t.Errorf("depends on timing: %t, unsettled: %q", p.DependsOnTiming, names(p.Graph, p.Unsettled))
	}
	if p := s.plan(Foreground, "first"); p.DependsOnTiming {
		t.Errorf("with one root %q are unsettled", names(p.Graph, p.Unsettled))
	}
}

// TestFateThatDependsOnWhoIsFirstWithTheCollector deletes copies of the same cascade, all at once,
// and the real collector comes to one of the two ends with each: it keeps eight, which has no owner
// then, or not.
func TestFateThatDependsOnWhoIsFirstWithTheCollector(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(c.Namespace(t))
	const copies = 12
	for i := range copies {
		uids := map[string]types.UID{}
		for _, line := range []string{"root", "one root", "two one", "three root", "four two", "six two", "seven three six",
			"eight four seven root"} {
			names := strings.Fields(line)
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			o.SetName(fmt.Sprintf("%s-%d", names[0], i))
			var refs []metav1.OwnerReference
			for _, owner := range names[1:] {
				refs = append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprintf("%s-%d", owner, i),
					UID: uids[owner]})
			}
			o.SetOwnerReferences(refs)
			if names[0] == "seven" {
				o.SetFinalizers([]string{OrphanFinalizer})
			}
			made, err := maps.Create(t.Context(), o, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			uids[names[0]] = made.GetUID()
		}
	}
	background := metav1.DeletePropagationBackground
	for i := range copies {
		if err := maps.Delete(t.Context(), fmt.Sprintf("root-%d", i),
			metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
			t.Fatal(err)
		}
	}
	var left []string
	testcluster.Eventually(t, "nothing but some of the eights is left, without owners",
		func(ctx context.Context) (bool, error) {
			left = nil
			list, err := maps.List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			for _, o := range list.Items {
				if o.GetName() != "kube-root-ca.crt" {
					left = append(left, o.GetName())
				}
				if !strings.HasPrefix(o.GetName(), "eight-") || len(o.GetOwnerReferences()) > 0 {
					return false, nil
				}
			}
			return true, nil
		})
	slices.Sort(left)
	t.Logf("%d of %d are kept: %v", len(left), copies, left)
}
