package crd

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// read reads the CRDs of a source, at most one from each file.
func read(t testing.TB, from Source) []unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir(t, from), from.Dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("finding the definitions of %s in %s: there are none (%v)", from.Module, from.Dir, err)
	}
	var all []unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition unstructured.Unstructured
		if err := yaml.Unmarshal(content, &definition.Object); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		if definition.GetKind() == "CustomResourceDefinition" {
			all = append(all, definition)
		}
	}
	return all
}
