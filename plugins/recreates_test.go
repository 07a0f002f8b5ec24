package plugins_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestWhatProgramsNeedToMakeObjectsAgain: what the sources of links name without which their ends do
// not come back. Nothing is needed that a program can do without.
func TestWhatProgramsNeedToMakeObjectsAgain(t *testing.T) {
	t.Parallel()
	links := fixture.Packs(t).Links()
	for _, c := range []struct{ id, source, want string }{
		{"eso-secret", `spec: {secretStoreRef: {name: vault}}`, "external-secrets.io/SecretStore n/vault"},
		{"eso-secret", `spec: {secretStoreRef: {name: vault, kind: ClusterSecretStore}}`, "external-secrets.io/ClusterSecretStore n/vault"},
		{"eso-secret", `spec: {secretStoreRef: {name: unused}, data: [{sourceRef: {storeRef: {name: a}}}, {sourceRef: {storeRef: {name: b, kind: ClusterSecretStore}}}]}`,
			"external-secrets.io/SecretStore n/a, external-secrets.io/ClusterSecretStore n/b"},
		{"eso-secret", `spec: {dataFrom: [{sourceRef: {generatorRef: {apiVersion: generators.external-secrets.io/v1alpha1, kind: Password, name: p}}}]}`,
			"generators.external-secrets.io/Password n/p"},
		{"eso-secret", `spec: {dataFrom: [{extract: {key: k}, sourceRef: {storeRef: {name: a}}}]}`, "external-secrets.io/SecretStore n/a"},
		{"cert-manager-certificate", `spec: {issuerRef: {name: ca}}`, "cert-manager.io/Issuer n/ca"},
		{"cert-manager-certificate", `spec: {issuerRef: {name: ca, kind: ClusterIssuer, group: cert-manager.io}}`, "cert-manager.io/ClusterIssuer n/ca"},
		{"cert-manager-certificate", `spec: {issuerRef: {name: ca, kind: AWSPCAIssuer, group: awspca.cert-manager.io}}`, ""},
		{"cert-manager-certificate", `{metadata: {annotations: {cert-manager.io/issue-temporary-certificate: 'true'}}, spec: {issuerRef: {name: ca}}}`, ""},
		{"tekton-runs", `status: {pipelineSpec: {tasks: [{taskRef: {kind: Task, name: build}}, {taskRef: {resolver: git}}, {taskSpec: {}},
			{taskRef: {apiVersion: example.org/v1, kind: Wait, name: w}}], finally: [{taskRef: {name: report}}]}}`, "tekton.dev/Task n/build, tekton.dev/Task n/report"},
		{"flux-kustomization", `spec: {sourceRef: {kind: GitRepository, name: app}}`, "source.toolkit.fluxcd.io/GitRepository n/app"},
		{"flux-kustomization", `spec: {sourceRef: {apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, name: app, namespace: other}}`,
			"source.toolkit.fluxcd.io/OCIRepository other/app"},
		{"cnpg-pooler", `spec: {cluster: {name: db}}`, "postgresql.cnpg.io/Cluster n/db"},
		{"crossplane-composite-composed", `spec: {compositionRef: {name: c}}`, "apiextensions.crossplane.io/Composition n/c"},
		{"crossplane-composite-composed", `spec: {crossplane: {compositionRef: {name: c}}}`, "apiextensions.crossplane.io/Composition n/c"},
	} {
		i := slices.IndexFunc(links, func(d *link.Definition) bool { return d.ID == c.id })
		if i < 0 {
			t.Fatalf("no link %s", c.id)
		}
		source := map[string]any{}
		if err := yaml.Unmarshal([]byte(c.source), &source); err != nil {
			t.Fatal(err)
		}
		metadata, _ := source["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
			source["metadata"] = metadata
		}
		metadata["namespace"] = "n"
		r := links[i].RecreatedBy(source)
		if r == nil {
			t.Errorf("%s of %s: nothing comes back", c.id, c.source)
			continue
		}
		var needed []string
		for _, n := range r.Needed {
			needed = append(needed, fmt.Sprintf("%s/%s %s/%s", n.Group, n.Kind, n.Namespace, n.Name))
		}
		if got := strings.Join(needed, ", "); got != c.want {
			t.Errorf("%s of %s needs %q, want %q", c.id, c.source, got, c.want)
		}
	}
}
