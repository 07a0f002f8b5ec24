package finalizer_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// TestAWorkloadIsRecognisedByItsNameOrItsLabels, and what it removes is known from that.
func TestAWorkloadIsRecognisedByItsNameOrItsLabels(t *testing.T) {
	t.Parallel()
	packs, err := plugins.Packs()
	if err != nil {
		t.Fatal(err)
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind, name string
		labels     map[string]string
		finalizer  string
	}{
		{"Deployment", "kustomize-controller", nil, "finalizers.fluxcd.io"},
		{"Deployment", "anything", map[string]string{"app": "olm-operator"}, "operators.coreos.com/csv-cleanup"},
		{"StatefulSet", "kustomize-controller", nil, ""},
		{"Deployment", "web", map[string]string{"app": "web"}, ""},
	} {
		all := known.Of(test.kind, "ns", test.name, map[string]string{}, test.labels)
		if test.finalizer == "" && len(all) > 0 || test.finalizer != "" &&
			!slices.ContainsFunc(all, func(k finalizer.Known) bool { return k.Exact == test.finalizer }) {
			t.Errorf("%s %s %v: %+v", test.kind, test.name, test.labels, all)
		}
	}
	flux := known.Of("Deployment", "flux-system", "kustomize-controller")
	about := func(group, kind string) bool {
		return slices.ContainsFunc(flux, func(k finalizer.Known) bool { return k.IsAbout(group, kind) })
	}
	if !about("kustomize.toolkit.fluxcd.io", "Kustomization") || about("example.org", "Kustomization") {
		t.Errorf("they are about %+v", flux)
	}
}
