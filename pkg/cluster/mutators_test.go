package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestMutatorsAreFoundInTheVersionThatIsServed: before 1.36 mutating policies are served in v1beta1
// or v1alpha1, or not at all.
func TestMutatorsAreFoundInTheVersionThatIsServed(t *testing.T) {
	c := testcluster.Shared(t)
	configMaps := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	const group, resource = "/apis/admissionregistration.k8s.io/", "/mutatingadmissionpolicies"
	for _, served := range []string{"v1", "v1beta1", "v1alpha1", "none"} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Path(resource), faultproxy.Plain(http.StatusNotFound, "404 page not found\n"))
		proxy.On(faultproxy.Path(group+served+resource), jsonText(http.StatusOK, fmt.Sprintf(`{"kind":"MutatingAdmissionPolicyList","apiVersion":"admissionregistration.k8s.io/%s",
			"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"keep","uid":"11111111-0000-4000-8000-000000000005","resourceVersion":"1"},"spec":{"matchConstraints":{"resourceRules":[
			{"operations":["UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}}}]}`, served)))
		client, err := New(proxy.Config(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if served != "none" {
			want = []string{"keep"}
		}
		if got := client.Mutators(t.Context(), configMaps); !slices.Equal(got, want) {
			t.Errorf("%s: the mutators are %q, want %q", served, got, want)
		}
	}
}
