// Package crd installs the CustomResourceDefinitions that the source of a pinned module contains.
package crd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Source says where CRDs are.
type Source struct {
	// Pinned is the directory below test/real whose go.mod pins Module.
	Pinned, Module string
	// Dir is the directory in the module.
	Dir string
}

// Install applies all CRDs of a source, with the labels, and waits until they are served. It
// removes conversion webhooks: nothing serves them here.
func Install(t testing.TB, c *testcluster.Cluster, from Source, labels map[string]string) {
	t.Helper()
	var manifest strings.Builder
	for _, definition := range read(t, from) {
		unstructured.RemoveNestedField(definition.Object, "spec", "conversion")
		all := definition.GetLabels()
		if all == nil {
			all = map[string]string{}
		}
		for key, value := range labels {
			all[key] = value
		}
		definition.SetLabels(all)
		text, err := definition.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		manifest.Write(text)
		manifest.WriteString("\n---\n")
	}
	c.Apply(t, manifest.String())
}

// dir finds the source of the module in the module cache.
func dir(t testing.TB, from Source) string {
	t.Helper()
	root, err := testcluster.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", from.Module)
	list.Dir = filepath.Join(root, "test", "real", from.Pinned)
	list.Env = append(os.Environ(), "GOTOOLCHAIN=auto") // its go.mod may name a later one than ours
	out, err := list.Output()
	if err != nil {
		t.Fatalf("finding the source of %s: %v", from.Module, err)
	}
	return strings.TrimSpace(string(out))
}
