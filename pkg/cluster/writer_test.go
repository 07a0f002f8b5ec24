package cluster

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// finalized is an object with so many finalizers that one manager wrote.
func finalized(n int) *unstructured.Unstructured {
	fields := map[string]any{".": map[string]any{}}
	for i := range n {
		fields[fmt.Sprintf(`v:"f%d.example.com/hold"`, i)] = map[string]any{}
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"managedFields": []any{
		map[string]any{"manager": "a", "operation": "Update", "time": "2026-01-02T03:04:05Z",
			"fieldsV1": map[string]any{"f:data": map[string]any{}}},
		"something else",
		map[string]any{
			"manager": "b", "operation": "Apply", "subresource": "status", "time": "2026-01-02T03:04:06Z",
			"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:finalizers": fields}},
		},
	}}}}
}

// TestWritersOfAFinalizer are read from managedFields.
func TestWritersOfAFinalizer(t *testing.T) {
	t.Parallel()
	o := finalized(3)
	all := Writers(o, FinalizerPath("f2.example.com/hold"))
	if at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC); len(all) != 1 || all[0].Manager != "b" || !all[0].At.Equal(at) {
		t.Errorf("got %+v", all)
	}
	if all := Writers(o, FinalizerPath("f3.example.com/hold")); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
}

// TestThatAFinalizerHasAWriterCostsTheSameAmongThousands: each of them is asked about.
func TestThatAFinalizerHasAWriterCostsTheSameAmongThousands(t *testing.T) {
	path := FinalizerPath("f1.example.com/hold")
	cost := func(o *unstructured.Unstructured) float64 {
		return testing.AllocsPerRun(10, func() { Writers(o, path) })
	}
	if few, many := cost(finalized(3)), cost(finalized(3000)); many > few {
		t.Errorf("%v allocations among 3 finalizers, %v among 3000", few, many)
	}
}
