package facts

import (
	_ "embed"
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

//go:embed testdata/usage.yaml
var usageManifest string

// usage: what is in use may not be deleted. The API server says so with 409, which a conflict has
// too. The Usage is gone with the one who uses it, and then the collector can delete what was used.
func usage(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	settings, access := m.composedOf(t, "settings"), m.composedOf(t, "access")
	name := settings.GetName()
	p.Apply(t, strings.NewReplacer("NAME", name, "SETTINGS", settings.GetName(), "ACCESS",
		access.GetName()).Replace(usageManifest))
	of := read(t, p.Cluster, usages, "").until(name, "is ready",
		func(o *unstructured.Unstructured) bool { return condition(o, "Ready") })
	read(t, p.Cluster, managed, "").until(settings.GetName(), "is in use", func(o *unstructured.Unstructured) bool {
		return o.GetLabels()["crossplane.io/in-use"] == "true"
	})

	err := read(t, p.Cluster, managed, "").delete(settings.GetName(), metav1.DeletePropagationBackground)
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusConflict ||
		!strings.Contains(err.Error(), "nousages.apiextensions.crossplane.io") ||
		!strings.Contains(err.Error(), "in-use by 1 Usage(s)") {
		t.Fatalf("deleting what is in use: %v, want a denial with 409", err)
	}
	wantCauseIn(t, p.Cluster, []types.UID{of.GetUID()}, "objects.kubernetes.crossplane.io/"+settings.GetName())

	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, claims, m.claim.GetNamespace()).delete("acme",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the tenant is gone, with the Usage",
		func(h record.History) bool { return gone(h, append(m.all(), of.GetUID())...) })
	inOrder(t, h, stage{"user", record.Gone, []types.UID{access.GetUID()}},
		stage{"Usage", record.Deleted, []types.UID{of.GetUID()}},
		stage{"used", record.Deleted, []types.UID{settings.GetUID()}})
}
