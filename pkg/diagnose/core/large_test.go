package core

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLarge(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{1000: false, 1 << 20: false, 3<<19 - 1000: true, 2 << 20: true} {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"of": strings.Repeat("x", size)}}}
		if got := Large(o) != nil; got != want {
			t.Errorf("with %d bytes: %v", size, got)
		}
	}
}
