package uninstall

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestKubectlDeleteHangsWhereThePlanSaysSo: with kubectl delete -f the operators of each bundle go
// while its objects wait for them. What the plan calls stuck is exactly what is left being deleted;
// what it deletes is gone, and all else is there.
func TestKubectlDeleteHangsWhereThePlanSaysSo(t *testing.T) {
	t.Parallel()
	for name, bundles := range map[string][]bundle{
		"cert-manager and Crossplane":    {certManager(t), crossplane(t)},
		"Flux":                           {flux(t)},
		"OLM":                            {olm(t)},
		"an operator that is in no pack": {gizmo(t, "gizmo")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testHangs(t, bundles)
		})
	}
}

// testHangs uninstalls bundles on a control plane. The API server deletes the instances of five
// CustomResourceDefinitions at a time, and waits a minute for those that are stuck: more than four
// of these would keep it from others.
func testHangs(t *testing.T, bundles []bundle) {
	all := start(t, true, bundles...)
	before := objects(t, all[0].cluster)
	plans := make([]v1alpha1.Plan, len(all))
	var deleted, stuck []string
	for n, i := range all {
		plans[n] = i.plan(t)
		i.saysStuck(t, plans[n])
		deleted, stuck = append(deleted, names(plans[n].Deleted)...), append(stuck, names(stuckIn(plans[n]))...)
	}
	t.Run("uninstall", func(t *testing.T) {
		for n, i := range all {
			t.Run(i.name, func(t *testing.T) {
				t.Parallel()
				i.hangs(t, plans[n])
			})
		}
	})
	after := objects(t, all[0].cluster)
	var gone, terminating []string
	for uid, o := range before {
		if _, is := after[uid]; !is {
			gone = append(gone, o.name)
		}
	}
	for _, o := range after {
		if o.deleting {
			terminating = append(terminating, o.name)
		}
	}
	for _, list := range [][]string{deleted, stuck, gone, terminating} {
		slices.Sort(list)
	}
	if diff := cmp.Diff(slices.Compact(deleted), gone); diff != "" {
		t.Errorf("what the plans delete (-) is not what is gone (+):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Compact(stuck), terminating); diff != "" {
		t.Errorf("what the plans call stuck (-) is not what is left (+):\n%s", diff)
	}
}

// saysStuck tests that a plan says of each object that an operator releases and that is deleted
// that it is stuck, since who removes its finalizer is deleted.
func (i *installed) saysStuck(t *testing.T, plan v1alpha1.Plan) {
	t.Helper()
	found := 0
	for _, s := range plan.Stuck {
		if _, is := i.held[types.UID(s.Object.UID)]; is {
			found++
			if s.Reason != "ActorDeleted" {
				t.Errorf("%s: %s is stuck because %s (%s), want because who removes its finalizers is deleted", i.name,
					nameOf(s.Object.Kind, s.Object.Namespace, s.Object.Name), s.Reason, s.Because)
			}
		}
	}
	if found == 0 {
		t.Errorf("%s: the plan calls nothing stuck that an operator has to release, but %q", i.name, names(stuckIn(plan)))
	}
	for _, d := range plan.Deleted {
		if name, is := i.held[types.UID(d.UID)]; is {
			t.Errorf("%s: by the plan %s is gone", i.name, name)
		}
	}
}

func stuckIn(plan v1alpha1.Plan) []v1alpha1.ObjectRef {
	var refs []v1alpha1.ObjectRef
	for _, s := range plan.Stuck {
		refs = append(refs, s.Object)
	}
	return refs
}

// hangs deletes a bundle as people do, and waits until nothing can happen any more: no operator
// works, what the plan deletes is gone, and what it calls stuck is being deleted.
func (i *installed) hangs(t *testing.T, plan v1alpha1.Plan) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	kubectl := i.cluster.Command(ctx, "delete", "-f", i.file, "--ignore-not-found")
	kubectl.Stdout, kubectl.Stderr = &out, &out
	if err := kubectl.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = kubectl.Wait() // it is to go on until it is killed
	}()
	for _, o := range i.operators {
		o.WaitUntilStopped(t)
	}
	i.waitUntilGone(t, plan.Deleted)
	i.waitUntilDeleting(t, stuckIn(plan))
	select {
	case <-ended:
		t.Errorf("kubectl delete -f has ended:\n%s", &out)
	default:
	}
	cancel()
	<-ended
	if t.Failed() {
		t.Logf("kubectl printed\n%s", &out)
	}
}
