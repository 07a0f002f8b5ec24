package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// withDisk makes a claim, and a volume that is called as it with the namespace in front and bound
// to it, with a reclaim policy.
func withDisk(t testing.TB, c *testcluster.Cluster, ns, claim, policy string) string {
	t.Helper()
	volume := ns + "-" + claim
	c.Apply(t, claimOf(ns, claim, volume))
	uid := c.Kubectl(t, "get", "pvc", claim, "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, strings.NewReplacer("Retain", policy, "name: "+claim+"}",
		"name: "+claim+", uid: "+uid+"}").Replace(volumeFor(volume, ns, claim)))
	fixture.Free(t, c, "", "pv/"+volume)
	fixture.Free(t, c, ns, "pvc/"+claim)
	return volume
}

// protected are the steps in front that keep disks.
func protected(cause v1alpha1.Cause) []string {
	var volumes []string
	for _, s := range cause.Steps {
		rest, ok := strings.CutPrefix(s.Command, "kubectl patch pv ")
		if !ok || s.Risk != "none" {
			break
		}
		name, _, _ := strings.Cut(rest, " -p ")
		volumes = append(volumes, name)
	}
	return volumes
}

func wantProtected(t *testing.T, s v1alpha1.Stuck, volumes ...string) {
	t.Helper()
	if len(s.Causes) == 0 {
		t.Fatalf("%s: no cause", s.Object.Name)
	}
	cause := s.Causes[0]
	if got := protected(cause); !slices.Equal(got, volumes) || len(volumes) > 0 && !cause.DataLoss {
		t.Errorf("%s %s: data loss %t and in front %v, want %v; the steps are %v", s.Object.Kind, s.Object.Name,
			cause.DataLoss, got, volumes, cause.Commands)
	}
	for _, volume := range volumes {
		if !strings.Contains(cause.Cost, volume) {
			t.Errorf("the cost is %q, want the disk of %s in it", cause.Cost, volume)
		}
	}
}

// TestDisksAreKeptFirst: of a claim, of a volume, of what owns claims, and of a namespace that
// holds them; none where the disk stays anyway, or another owner keeps the claim.
func TestDisksAreKeptFirst(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	lost := withDisk(t, c, ns, "lost", "Delete")
	withDisk(t, c, ns, "kept", "Retain")
	owned := withDisk(t, c, ns, "owned", "Delete")
	withDisk(t, c, ns, "shared", "Delete")
	alone := withDisk(t, c, ns, "alone", "Delete")
	for _, name := range []string{"owner", "other"} {
		c.Apply(t, fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, finalizers: [nobody.example.com/hold]}\n",
			name, ns))
	}
	fixture.Free(t, c, ns, "configmap/owner")
	fixture.Free(t, c, ns, "configmap/other")
	uid := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}`, name,
			c.Kubectl(t, "get", "configmap", name, "-n", ns, "-o", "jsonpath={.metadata.uid}"))
	}
	refers := func(claim string, owners ...string) {
		c.Kubectl(t, "patch", "pvc", claim, "-n", ns, "--type=merge", "-p",
			`{"metadata":{"ownerReferences":[`+strings.Join(owners, ",")+`]}}`)
	}
	refers("owned", uid("owner"))
	refers("shared", uid("owner"), uid("other"))
	deleted(t, c, "pvc", "lost", "kept", "-n", ns)
	deleted(t, c, "pv", alone)
	deleted(t, c, "configmap", "owner", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"persistentvolumeclaims/lost", ns},
		subject{"persistentvolumeclaims/kept", ns}, subject{"configmaps/owner", ns},
		subject{"persistentvolumes/" + alone, ""})
	wantProtected(t, stuckOf(t, d, "lost"), lost)
	wantProtected(t, stuckOf(t, d, "kept"))
	wantProtected(t, stuckOf(t, d, "owner"), owned)
	wantProtected(t, stuckOf(t, d, alone), alone)
	cause := stuckOf(t, d, "lost").Causes[0]
	wantEvidence(t, cause, "the disk of PersistentVolume "+lost+" (PersistentVolumeClaim "+ns+
		"/lost, 1Gi, reclaim policy Delete) is destroyed when it is released")
	if from := cause.Observations[0].From; from != "PersistentVolume "+lost+" spec.persistentVolumeReclaimPolicy" {
		t.Errorf("it was read at %q", from)
	}
	typed(t, c, cause.Commands[0])
	wantProtected(t, stuckOf(t, examine(t, c.Config(), Options{}, ns, subject{"persistentvolumeclaims/lost", ns}), "lost"))
}

// TestDisksOfANamespaceAreKeptFirst, all in a few commands.
func TestDisksOfANamespaceAreKeptFirst(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var volumes []string
	for i := range 6 {
		volumes = append(volumes, withDisk(t, c, ns, fmt.Sprint("data-", i), "Delete"))
	}
	deleted(t, c, "namespace", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	cause := stuckOf(t, d, ns).Causes[0]
	if got := protected(cause); len(got) != 1 || got[0] != strings.Join(volumes, " ") || !cause.DataLoss {
		t.Errorf("in front %v, data loss %t; want the volumes in one command", got, cause.DataLoss)
	}
	typed(t, c, cause.Commands[0])
	if policies := c.Kubectl(t, append(append([]string{"get", "pv"}, volumes...), "-o",
		"jsonpath={.items[*].spec.persistentVolumeReclaimPolicy}")...); strings.Count(policies, "Retain") != len(volumes) {
		t.Errorf("the policies are %s", policies)
	}
}

// TestPacksProtectData: what a pack says has to be done first comes first.
func TestPacksProtectData(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db, namespace: %s, finalizers: [protect.example.com/db]}\n", ns))
	fixture.Free(t, c, ns, "configmap/db")
	deleted(t, c, "configmap", "db", "-n", ns)
	known, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(`title: Test
components: {db operator: {deployments: [` + ns + `/db-operator]}}
finalizers:
- {id: protect-db, exact: protect.example.com/db, kinds: [v1/ConfigMap], component: db operator, does: drops the database, ifRemoved: the database stays,
   risk: data-loss, polarity: cleanup, protect: [{command: 'dump -n {namespace} {name}', does: takes a backup}], verified: source, source: 'https://example.com/'}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	cause := stuckOf(t, examine(t, c.Config(), Options{Known: known}, ns, subject{"configmaps/db", ns}), "db").Causes[0]
	if want := "dump -n " + ns + " db"; cause.Steps[0].Command != want || cause.Steps[0].Does != "takes a backup" {
		t.Errorf("the first step is %+v, want %q", cause.Steps[0], want)
	}
}

// TestDisksOfClaimsThatTheActorDeletesAreKeptFirst: it finds them by their labels, and they have no
// owner. Removing the finalizer by hand does not delete them.
func TestDisksOfClaimsThatTheActorDeletesAreKeptFirst(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	packs := related(t, c, ns, "claims: 'app={field:metadata.name}'")
	volume := withDisk(t, c, ns, "data", "Delete")
	for _, claim := range []string{"retained", "stranger"} {
		withDisk(t, c, ns, claim, map[string]string{"retained": "Retain", "stranger": "Delete"}[claim])
	}
	c.Kubectl(t, "label", "pvc", "data", "retained", "-n", ns, "app=db")
	c.Kubectl(t, "label", "pvc", "stranger", "-n", ns, "app=other")
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db, namespace: %s, finalizers: [example.com/x]}\n", ns))
	fixture.Free(t, c, ns, "configmap/db")
	deleted(t, c, "configmap", "db", "-n", ns)
	cause := stuckOf(t, examine(t, c.Config(), Options{Known: packs}, ns, subject{"configmaps/db", ns}), "db").Causes[0]
	if got := protected(cause); !slices.Equal(got, []string{volume}) || !cause.DataLoss {
		t.Errorf("data loss %t and in front %v, want %v; the steps are %v", cause.DataLoss, got, volume, cause.Commands)
	}
	wantEvidence(t, cause, "the Test operator deletes the claims of the disks before it removes the finalizer")
	if strings.Contains(cause.Cost, volume) {
		t.Errorf("removing the finalizer by hand is said to destroy the disk: %q", cause.Cost)
	}
}
