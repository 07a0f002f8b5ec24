package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestVolumesOfClaims are found by uid, one by one for few claims and in a list for many; what may
// not be read is not absent.
func TestVolumesOfClaims(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	uid := func(kind, name string) string {
		return c.Kubectl(t, "get", kind, name, "-n", ns, "-o", "jsonpath={.metadata.uid}")
	}
	pvc := func(name, volume string) string {
		return fmt.Sprintf(
			"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s, namespace: %s}\nspec: {volumeName: %q, storageClassName: '', accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n---\n", name, ns, volume)
	}
	volume := func(name, pvc, uid string) string {
		return fmt.Sprintf(
			"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: %s}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: %s, name: %s, uid: %q}, csi: {driver: disk.example.com, volumeHandle: %s}}\n---\n", name, ns, pvc, uid, name)
	}
	c.Apply(t, pvc("bound", ns+"-bound")+pvc("pending", "")+pvc("taken", ns+"-taken")+pvc("lost", ns+"-nothing"))
	c.Apply(t, volume(ns+"-bound", "bound", uid("pvc", "bound"))+volume(ns+"-taken", "taken", "another"))
	t.Cleanup(func() {
		for _, name := range []string{"-bound", "-taken"} {
			c.Kubectl(t, "delete", "pv", ns+name, "--wait=false", "--ignore-not-found")
		}
	})
	var pvcs []graph.Ref
	for _, name := range []string{"bound", "pending", "taken", "lost"} {
		pvcs = append(pvcs, graph.Ref{Namespace: ns, Name: name, UID: uid("pvc", name)})
	}
	many := pvcs
	for i := range fewPVCs {
		many = append(many, graph.Ref{Namespace: ns, Name: fmt.Sprint("none-", i), UID: fmt.Sprint("none-", i)})
	}
	c.Kubectl(t, "create", "role", "reader", "-n", ns, "--verb=get", "--resource=persistentvolumeclaims")
	c.Kubectl(t, "create", "rolebinding", "reader", "-n", ns, "--role=reader", "--user=uma-"+ns)
	for _, test := range []struct {
		user   string
		claims []graph.Ref
		want   string
	}{
		{"", pvcs, "bound=" + ns + "-bound"},
		{"", many, "bound=" + ns + "-bound"},
		{"uma-" + ns, pvcs, "bound failed taken failed lost failed"},
		{"uma-" + ns, many, "bound failed pending failed taken failed lost failed"},
	} {
		config := c.Config()
		if test.user != "" {
			config = c.As(test.user)
		}
		client, err := New(config, 0)
		if err != nil {
			t.Fatal(err)
		}
		catalog, err := client.Discover(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bound, failed := NewReader(client, catalog).Volumes(t.Context(), test.claims, 0)
		var got []string
		for _, ref := range pvcs {
			switch {
			case failed[ref.UID] != nil:
				got = append(got, ref.Name+" failed")
			case bound[ref.UID] != nil:
				got = append(got, ref.Name+"="+bound[ref.UID].GetName())
			}
		}
		if says := strings.Join(got, " "); says != test.want {
			t.Errorf("%q of %d claims: %s, want %s", test.user, len(test.claims), says, test.want)
		}
	}
}
