package beside

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// StartFlux starts the kustomize-controller of Flux. Its sources are defined and nothing fills
// them: see FluxSource.
func StartFlux(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	var definitions strings.Builder
	for singular, kind := range map[string]string{"gitrepository": "GitRepository", "ocirepository": "OCIRepository",
		"bucket": "Bucket"} {
		fmt.Fprintf(&definitions, fluxSource, singular, kind)
	}
	c.Apply(t, definitions.String())
	crd.Install(t, c, crd.Source{Pinned: "flux", Module: "github.com/fluxcd/kustomize-controller",
		Dir: "config/crd/bases"}, nil)
	health := fmt.Sprintf("127.0.0.1:%d", program.Port(t))
	return program.Start(t, program.Spec{
		Name:  "kustomize-controller",
		Args:  []string{"--metrics-addr=127.0.0.1:0", "--health-addr=" + health},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+health+"/readyz") },
	})
}

// FluxSource serves files, by their names, as an artifact, and returns the manifest of the
// GitRepository that has it, as if the source-controller had fetched it.
func FluxSource(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	var artifact bytes.Buffer
	zip := gzip.NewWriter(&artifact)
	archive := tar.NewWriter(zip)
	for file, text := range files {
		if err := archive.WriteHeader(&tar.Header{Name: file, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(artifact.Bytes())
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %s}
spec: {interval: 1h, url: "https://example.com/%[1]s"}
status: {artifact: {digest: "sha256:%x", path: a.tar.gz, url: "%s/a.tar.gz", revision: "main@sha1:0000000", lastUpdateTime: "2026-01-01T00:00:00Z"}}
`, name, sha256.Sum256(artifact.Bytes()), server.URL)
}

// fluxSource defines a kind of sources. Its status is written as any other field.
const fluxSource = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.source.toolkit.fluxcd.io}
spec:
  group: source.toolkit.fluxcd.io
  scope: Namespaced
  names: {plural: %[1]ss, singular: %[1]s, kind: %[2]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
