package restore

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestAVolumeGetsTheUIDOfTheNewClaimOnce, whether the answer to that comes or not, and only while it
// is bound to the old claim.
func TestAVolumeGetsTheUIDOfTheNewClaimOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	volumes := w.client.CoreV1().PersistentVolumes()
	made, err := volumes.Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "rebind-"},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: w.namespace, Name: "a", UID: "old"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = volumes.Delete(context.WithoutCancel(t.Context()), made.Name, metav1.DeleteOptions{}) })
	lossy := rest.CopyConfig(w.config)
	lossy.Wrap(func(next http.RoundTripper) http.RoundTripper { return losing{next} })
	client, _ := fixture.Connect(t, lossy)
	volume := graph.Type{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume"}
	rebind := func(uid types.UID, from, to string) error {
		return RebindVolume(t.Context(), client, volume, volume.Ref("", made.Name, string(uid)), from, to)
	}
	bound := func() (string, string) {
		now, err := volumes.Get(t.Context(), made.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(now.Spec.ClaimRef.UID), now.ResourceVersion
	}
	if err := rebind(made.UID, "old", "new"); err != nil {
		t.Fatalf("with an answer that is lost: %v", err)
	}
	uid, version := bound()
	if uid != "new" {
		t.Errorf("it is bound to %s", uid)
	}
	if err := rebind(made.UID, "old", "new"); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if err := rebind(made.UID, "old", "third"); err == nil {
		t.Error("it was taken from another claim")
	}
	if err := rebind("another", "new", "third"); !errors.Is(err, change.ErrReplaced) {
		t.Errorf("of another volume: %v", err)
	}
	if _, now := bound(); now != version {
		t.Error("it was written again")
	}
}

// losing loses the answers to patches.
type losing struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l losing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/persistentvolumes/") {
		answer.Body.Close()
		return nil, errCut
	}
	return answer, err
}
