package unfinalize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	claimType = graph.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim",
		Namespaced: true}
	volumeType = graph.Type{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume"}
)

// TestDisksThatAreDestroyedNeedForce, and so do those of which it is not known; but only where the
// object is gone without the finalizer.
func TestDisksThatAreDestroyedNeedForce(t *testing.T) {
	dead := actor.Actor{Life: actor.Dead, Found: true}
	disk := v1alpha1.Disk{
		Volume: v1alpha1.ObjectRef{Name: "pv-1"}, Claim: &v1alpha1.ObjectRef{Namespace: "shop", Name: "data-0"},
		Capacity: "10Gi", ReclaimPolicy: "Delete",
	}
	unread := &Aftermath{Unread: []graph.Ref{{Name: "data-0"}}, Why: errors.New("forbidden")}
	for _, c := range []struct {
		held, name string
		deleted    bool
		after      *Aftermath
		want       string
	}{
		{"h", "h", true, &Aftermath{Disks: []v1alpha1.Disk{disk}},
			"DataLoss--force it destroys the disk of 1 PersistentVolume: pv-1 (PersistentVolumeClaim shop/data-0, 10Gi, reclaim policy Delete)"},
		{"h foregroundDeletion", "h", true, &Aftermath{Disks: []v1alpha1.Disk{disk}},
			"DataLoss--force it destroys the disk of 1 PersistentVolume: pv-1 (PersistentVolumeClaim shop/data-0, 10Gi, reclaim policy Delete)"},
		{"h", "h", true, unread, "DataLoss--force 1 PersistentVolumeClaim would be deleted, and whether its disk is destroyed is not known: forbidden"},
		{"h", "h", true, &Aftermath{Deleted: []graph.Ref{{Name: "x"}}}, ""},
		{"h", "h", true, nil, ""},
		{"h other", "h", true, &Aftermath{Disks: []v1alpha1.Disk{disk}}, ""},
		{"h", "h", false, &Aftermath{Disks: []v1alpha1.Disk{disk}}, "NotDeleting--force-live"},
	} {
		o := object("Pod", c.deleted, c.held)
		v := Assess(o, named(o, []string{c.name})[0], []string{c.name}, dead, Details{After: c.after})
		got := ""
		for _, r := range v.Refusals {
			got = fmt.Sprintf("%s%s %s", r.Code, r.Override, r.Because)
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q without %q, deleted %t: %q, want %q", c.held, c.name, c.deleted, got, c.want)
		}
		p := &Planned{Batches: [][]*Candidate{{{Ref: graph.Ref{Name: "o"}, Object: o, Names: []string{c.name},
			details: Details{After: c.after}}}}}
		if named := p.Precious() != ""; named != strings.HasPrefix(c.want, "DataLoss") {
			t.Errorf("%q without %q, deleted %t, %+v: a name is asked for: %t", c.held, c.name, c.deleted, c.after, named)
		}
	}
}

// database makes a custom resource that is being deleted, with a finalizer, and claims of it that
// are bound to volumes of a reclaim policy.
func (f *fixture) database(name, policy string, claims ...string) {
	f.t.Helper()
	db := f.make(heldType, name, hold)
	for _, claim := range claims {
		f.claim(claim, policy, map[string]any{"apiVersion": heldType.APIVersion(), "kind": "Held", "name": name,
			"uid": string(db.GetUID())})
	}
	f.delete(heldType, name, metav1.DeletePropagationBackground)
}

// claim makes a claim and the volume that it is bound to, which is called as the claim with the
// namespace in front.
func (f *fixture) claim(name, policy string, owners ...any) {
	f.t.Helper()
	volume := f.namespace + "-" + name
	size := map[string]any{"storage": "1Gi"}
	made := f.create(claimType, map[string]any{
		"metadata": map[string]any{"name": name, "ownerReferences": owners,
			"finalizers": []any{"kubernetes.io/pvc-protection"}},
		"spec": map[string]any{"volumeName": volume, "storageClassName": "", "accessModes": []any{"ReadWriteOnce"},
			"resources": map[string]any{"requests": size}},
	})
	f.create(volumeType, map[string]any{
		"metadata": map[string]any{"name": volume},
		"spec": map[string]any{
			"capacity": size, "accessModes": []any{"ReadWriteOnce"}, "persistentVolumeReclaimPolicy": policy,
			"csi": map[string]any{"driver": "disk.example.com", "volumeHandle": "vol-" + name},
			"claimRef": map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": f.namespace,
				"name": name, "uid": string(made.GetUID())},
		},
	})
}

// foresee assesses objects and what follows from them.
func (f *fixture) foresee(t graph.Type, finalizers []string, objects ...string) []*Candidate {
	f.t.Helper()
	j := newAssessor(f.client, lives{})
	candidates := f.judgeBy(j, t, finalizers, objects...)
	if err := j.Foresee(f.t.Context(), candidates); err != nil {
		f.t.Fatal(err)
	}
	return candidates
}

// follows says what follows a candidate, and which disks are destroyed.
func follows(c *Candidate) string {
	if c.After() == nil {
		return "nobody looked"
	}
	var names []string
	for _, r := range c.After().Deleted {
		names = append(names, r.Name)
	}
	for _, d := range c.After().Disks {
		names = append(names, "disk "+d.Handle)
	}
	return strings.Join(names, ", ")
}

// TestClaimsFollowTheirDatabase: with the reclaim policy Delete their disks are lost, which takes --force;
// with Retain they stay.
func TestClaimsFollowTheirDatabase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.database("lost", "Delete", "lost-0", "lost-1")
	f.database("kept", "Retain", "kept-0")
	candidates := f.foresee(heldType, []string{hold}, "lost", "kept")
	for i, want := range []string{"lost-0, lost-1, disk vol-lost-0, disk vol-lost-1", "kept-0"} {
		if got := follows(candidates[i]); got != want {
			t.Errorf("%s: %s follows, want %s", candidates[i].Ref.Name, got, want)
		}
	}
	if got := codes(candidates[0], Overrides{Asked: true}); !slices.Equal(got, []Code{DataLoss}) {
		t.Errorf("refusals %v, want DataLoss", got)
	}
	if got := codes(candidates[1], Overrides{}); len(got) > 0 {
		t.Errorf("refusals %v, want none: the disk stays", got)
	}
	want(t, f.perform(f.client, Options{}, candidates[0])[0], "error: "+candidates[0].Assessments[0].Refusals[0].Because)
	f.is(heldType, "lost", hold)
	want(t, f.performOn(f.client, Overrides{Force: true}, Options{}, candidates[0])[0],
		"removeFinalizer lost "+hold+"; gone")
}

// TestAClaimThatIsReleasedLosesItsDisk, by the finalizer that protects it.
func TestAClaimThatIsReleasedLosesItsDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.claim("data", "Delete")
	f.delete(claimType, "data", metav1.DeletePropagationBackground)
	c := f.foresee(claimType, []string{"kubernetes.io/pvc-protection"}, "data")[0]
	if got := codes(c, Overrides{}); !slices.Equal(got, []Code{DataLoss}) || follows(c) != "disk vol-data" {
		t.Errorf("refusals %v, and %s; want DataLoss of the disk", got, follows(c))
	}
	if hint := c.Assessments[0].Refusals[0].Hint; !strings.Contains(hint,
		`kubectl patch pv `+f.namespace+`-data -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`) {
		t.Errorf("the hint is %q, want the command that keeps the disk", hint)
	}
}

// TestWhatCannotBeReadIsNotHarmless: who may not read volumes is not told that none is lost.
func TestWhatCannotBeReadIsNotHarmless(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.database("db", "Delete", "data-0")
	user := "uma-" + f.namespace
	f.c.Kubectl(t, "create", "role", user, "-n", f.namespace, "--verb=get,list",
		"--resource=helds.unfinalize.example.com,persistentvolumeclaims")
	f.c.Kubectl(t, "create", "rolebinding", user, "-n", f.namespace, "--role="+user, "--user="+user)
	client := connect(t, f.c.As(user))
	testcluster.Eventually(t, "the rights are known", func(ctx testContext) (bool, error) {
		_, err := client.GetObject(ctx, heldType, f.namespace, "db")
		return err == nil, nil
	})
	j := newAssessor(client, lives{})
	c := f.judgeBy(j, heldType, []string{hold}, "db")[0]
	if err := j.Foresee(t.Context(), []*Candidate{c}); err != nil {
		t.Fatal(err)
	}
	if got := codes(c, Overrides{}); !slices.Equal(got, []Code{DataLoss}) || follows(c) != "data-0" {
		t.Errorf("refusals %v, and %s follows; want DataLoss for data-0", got, follows(c))
	}
	if len(c.Gaps()) == 0 {
		t.Error("no gap, want the types that the user may not list")
	}
}

// TestNothingFollowsWhatIsOrphaned or goes on to be held, or is not being deleted.
func TestNothingFollowsWhatIsOrphaned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.make(configMapType, "orphaning")
	f.make(configMapType, "live", hold)
	f.create(secretType, map[string]any{"metadata": map[string]any{"name": "dependent", "ownerReferences": []any{
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "orphaning", "uid": string(owner.GetUID())},
	}}})
	f.delete(configMapType, "orphaning", metav1.DeletePropagationOrphan)
	if c := f.foresee(configMapType, []string{plan.OrphanFinalizer}, "orphaning")[0]; follows(c) != "" {
		t.Errorf("%s follows what is orphaned", follows(c))
	}
	if c := f.foresee(configMapType, []string{hold}, "live")[0]; c.After() != nil {
		t.Errorf("%s follows what is not being deleted", follows(c))
	}
}
