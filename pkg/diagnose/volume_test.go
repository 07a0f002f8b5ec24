package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/storage"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func claimOf(namespace, name, volume string) string {
	return fmt.Sprintf(
		"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s, namespace: %s}\nspec: {accessModes: [ReadWriteOnce], storageClassName: '', volumeName: '%s', resources: {requests: {storage: 1Gi}}}\n", name, namespace, volume)
}

func mounts(claim string) string {
	return fmt.Sprintf(", volumes: [{name: v, persistentVolumeClaim: {claimName: %s}}]", claim)
}

// TestPVCInUse: by a pod that is scheduled, whatever its phase, and by one whose own claim it is;
// not by one that is not scheduled, nor one of another claim.
func TestPVCInUse(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, claimOf(ns, "data", "")+claimOf(ns, "free", "")+claimOf(ns, "user-own", ""))
	own := ", volumes: [{name: own, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}, {name: v, persistentVolumeClaim: {claimName: data}}]"
	c.Apply(t, podOn(ns, "user", ns, own)+podOn(ns, "ended", ns, mounts("data"))+podOn(ns, "pending", "", mounts("data")))
	c.Kubectl(t, "patch", "pod", "ended", "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"phase":"Succeeded"}}`)
	fixture.Free(t, c, ns, "pvc/data", "pvc/free", "pvc/user-own")
	deleted(t, c, "pvc", "data", "free", "user-own", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{
		"PersistentVolumeClaim/data":     {"ClaimInUse PersistentVolumeClaim/data"},
		"PersistentVolumeClaim/free":     {"FinalizerActorUnknown PersistentVolumeClaim/free"},
		"PersistentVolumeClaim/user-own": {"ClaimInUse PersistentVolumeClaim/user-own"},
	})
	cause := stuckOf(t, d, "data").Causes[0]
	wantEvidence(t, cause, "Pod user, which is Pending on Node "+ns+", uses it")
	wantEvidence(t, cause, "Pod ended, which is Succeeded on Node "+ns+", uses it")
	if want := "kubectl delete pods ended user -n " + ns; last(cause) != want {
		t.Errorf("the command is %q, want %q", last(cause), want)
	}
	if want := "kubectl gc delete pods ended user -n " + ns + " --dry-run"; cause.Commands[0] != want {
		t.Errorf("the first command is %q, want %q, since one of them has not ended", cause.Commands[0], want)
	}
	free := stuckOf(t, d, "free").Causes[0]
	wantEvidence(t, free, "no pod uses it")
	if strings.Contains(free.Remedy, "Delete the pods") {
		t.Errorf("no pod uses it, and the remedy is %q", free.Remedy)
	}
}

// TestPVCIsReleased: the printed command deletes the pods, and the controller that looks after
// claims lets it go.
func TestPVCIsReleased(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.Controllers("persistentvolumeclaim-protection-controller"))
	c.Apply(t, claimOf("default", "data", "")+podOn("default", "ended", "node-1", mounts("data")))
	c.Kubectl(t, "patch", "pod", "ended", "--subresource=status", "--type=merge", "-p", `{"status":{"phase":"Succeeded"}}`)
	deleted(t, c, "pvc", "data")
	d := examine(t, c.Config(), Options{}, "default")
	wantCauses(t, d, map[string][]string{"PersistentVolumeClaim/data": {"ClaimInUse PersistentVolumeClaim/data"}})
	typed(t, c, last(d.Stuck[0].Causes[0]))
	gone(t, c, "pvc", "data")
}

// TestPVCOfAPodOnADeadNode: the claim waits for a pod, and that for its node, which is the cause.
func TestPVCOfAPodOnADeadNode(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, claimOf(ns, "data", "")+podOn(ns, "pod", ns, mounts("data")))
	fixture.Free(t, c, ns, "pvc/data")
	deleted(t, c, "pvc", "data", "-n", ns)
	graceOver(t, c, ns, "pod")
	d := examine(t, c.Config(), Options{}, ns, subject{"persistentvolumeclaims/data", ns})
	wantCauses(t, d, map[string][]string{"PersistentVolumeClaim/data": {"NodeGone Node/" + ns}})
	if via := d.Stuck[0].Causes[0].Via; len(via) == 0 || via[0].Name != "pod" {
		t.Errorf("it leads through %v, want the pod", via)
	}
	typed(t, c, last(d.Stuck[0].Causes[0]))
	gone(t, c, "pod", "pod", "-n", ns)
	d = examine(t, c.Config(), Options{}, ns, subject{"persistentvolumeclaims/data", ns})
	wantCauses(t, d, map[string][]string{"PersistentVolumeClaim/data": {"FinalizerActorUnknown PersistentVolumeClaim/data"}})
}

func volumeFor(name, namespace, claim string, finalizers ...string) string {
	return fmt.Sprintf(
		"---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: %s, finalizers: [%s]}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: '', persistentVolumeReclaimPolicy: Retain, csi: {driver: csi.example.com, volumeHandle: h}, claimRef: {namespace: %s, name: %s}}\n",
		name, strings.Join(finalizers, ", "), namespace, claim)
}

// boundVolume makes a volume, named as the namespace, that is bound to a claim.
func boundVolume(t testing.TB, c *testcluster.Cluster, ns string) {
	t.Helper()
	c.Apply(t, volumeFor(ns, ns, "data")+claimOf(ns, "data", ns))
	uid := c.Kubectl(t, "get", "pvc", "data", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Kubectl(t, "patch", "pv", ns, "--type=merge", "-p", fmt.Sprintf(`{"spec":{"claimRef":{"uid":%q}}}`, uid))
	phase(t, c, ns, "Bound")
	fixture.Free(t, c, "", "pv/"+ns)
	fixture.Free(t, c, ns, "pvc/data")
	deleted(t, c, "pv", ns)
}

// phase has a volume in a phase, as the controller of volumes would.
func phase(t testing.TB, c *testcluster.Cluster, volume, phase string) {
	t.Helper()
	c.Kubectl(t, "patch", "pv", volume, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"phase":%q}}`, phase))
}

// TestVolumeIsBound: to a claim, to one that waits for a pod, and to none any more.
func TestVolumeIsBound(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	boundVolume(t, c, ns)
	volume := subject{"persistentvolumes/" + ns, ""}
	want := func(code string) {
		t.Helper()
		wantCauses(t, examine(t, c.Config(), Options{}, ns, volume), map[string][]string{"PersistentVolume/" + ns: {code}})
	}
	want("VolumeBound PersistentVolume/" + ns)
	cause := examine(t, c.Config(), Options{}, ns, volume).Stuck[0].Causes[0]
	wantEvidence(t, cause, "it is bound to PersistentVolumeClaim "+ns+"/data")
	c.Apply(t, podOn(ns, "user", ns, mounts("data")))
	if want := "kubectl delete persistentvolumeclaims/data -n " + ns; last(cause) != want {
		t.Errorf("the command is %q, want %q", last(cause), want)
	}
	deleted(t, c, "pvc", "data", "-n", ns)
	want("ClaimInUse PersistentVolumeClaim/data")
	letGo(t, c, ns, "pvc/data")
	want("FinalizerActorUnknown PersistentVolume/" + ns)
	phase(t, c, ns, "Released")
	want("FinalizerActorUnknown PersistentVolume/" + ns)
	wantEvidence(t, examine(t, c.Config(), Options{}, ns, volume).Stuck[0].Causes[0], "it is Released, and not bound")
}

// TestVolumeIsReleased: the printed command deletes the claim, and those who look after claims and
// volumes do the rest.
func TestVolumeIsReleased(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.Controllers("persistentvolumeclaim-protection-controller",
		"persistentvolume-protection-controller"))
	boundVolume(t, c, "default")
	d := examine(t, c.Config(), Options{}, "default", subject{"persistentvolumes/default", ""})
	wantCauses(t, d, map[string][]string{"PersistentVolume/default": {"VolumeBound PersistentVolume/default"}})
	typed(t, c, last(d.Stuck[0].Causes[0]))
	phase(t, c, "default", "Released")
	gone(t, c, "pv", "default")
}

// TestVolumeIsAttached: the attachment is the cause, or what holds that, and its error is told.
func TestVolumeIsAttached(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	finalizer := storage.AttacherFinalizer + "csi-example-com"
	c.Apply(t, strings.Replace(volumeFor(ns, ns, "data", finalizer), "metadata: {", "metadata: {annotations: {}, ", 1))
	c.Apply(t, fmt.Sprintf(
		"apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: %[1]s, finalizers: [%[2]s]}\nspec: {attacher: csi.example.com, nodeName: %[1]s, source: {persistentVolumeName: %[1]s}}\n", ns, finalizer))
	fixture.Free(t, c, "", "pv/"+ns, "volumeattachment/"+ns)
	c.Kubectl(t, "patch", "volumeattachment", ns, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"attached":true,"detachError":{"message":"the disk is busy","time":%q}}}`,
			time.Now().UTC().Format(time.RFC3339)))
	deleted(t, c, "pv", ns)
	// Of the two finalizers, the other is for the controller of volumes alone.
	c.Kubectl(t, "patch", "pv", ns, "--type=merge", "-p", fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, finalizer))
	volume := subject{"persistentvolumes/" + ns, ""}
	d := examine(t, c.Config(), Options{}, ns, volume)
	wantCauses(t, d, map[string][]string{"PersistentVolume/" + ns: {"VolumeAttached VolumeAttachment/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "CSI driver csi.example.com has it attached to Node "+ns)
	wantEvidence(t, cause, "detaching it failed: the disk is busy")
	wantEvidence(t, cause, "Node "+ns+" does not exist")
	deleted(t, c, strings.Fields(last(cause))[2:]...)
	d = examine(t, c.Config(), Options{}, ns, volume)
	if got := d.Stuck[0].Causes[0]; len(d.Stuck[0].Causes) != 1 || got.Object.Kind != "VolumeAttachment" ||
		got.Finalizer != finalizer {
		t.Errorf("causes %+v, want the finalizer of the attachment", d.Stuck[0].Causes)
	}
	wantEvidence(t, d.Stuck[0].Causes[0], "the disk is busy")
	// There is no Lease of the attacher: only what it has written shows that it lives.
	attachment := subject{"volumeattachments.storage.k8s.io/" + ns, ""}
	lives := func(remedy string) {
		t.Helper()
		got := examine(t, c.Config(), Options{Known: fixture.Packs(t)}, ns, attachment).Stuck[0].Causes[0]
		if got.Code != "FinalizerActorAlive" || !strings.Contains(got.Remedy, remedy) {
			t.Errorf("%s, %q: want it alive, and %q", got.Code, got.Remedy, remedy)
		}
		wantEvidence(t, got, "its attacher, which wrote that, was alive ")
	}
	lives("does not exist: find out at the provider")
	c.Apply(t, "{apiVersion: v1, kind: Node, metadata: {name: "+ns+"}}")
	lives("Fix what status.detachError reports")
	for _, at := range []string{"2026-01-01T00:00:00Z", "2126-01-01T00:00:00Z"} {
		c.Kubectl(t, "patch", "volumeattachment", ns, "--subresource=status", "--type=merge", "-p",
			`{"status":{"detachError":{"time":"`+at+`"}}}`)
		if got := examine(t, c.Config(), Options{Known: fixture.Packs(t)}, ns, attachment).Stuck[0].Causes[0]; got.Code ==
			"FinalizerActorAlive" {
			t.Errorf("%+v: what is said to be written at %s is no sign of life", got, at)
		}
	}
	c.Kubectl(t, "delete", "node", ns)
}
