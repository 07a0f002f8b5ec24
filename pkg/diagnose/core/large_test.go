package core

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLarge(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{1000: false, 1 << 20: false, 3<<19 - 1000: true, 2 << 20: true} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "spec": map[string]any{"of": strings.Repeat("x", size)}}}
		if got := Large(o) != nil; got != want {
			t.Errorf("with %d bytes: %v", size, got)
		}
	}
	// A ConfigMap with 1 MiB of "<", which is all that one may hold: JSON has six bytes for each.
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"data": map[string]any{"of": strings.Repeat("<", 1<<20)}}}
	if Large(o) != nil {
		t.Error("what JSON makes large is taken to be large in etcd")
	}
}
