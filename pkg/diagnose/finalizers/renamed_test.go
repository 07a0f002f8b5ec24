package finalizers

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestFinalizersOfTwoPrograms: one that is known to be of another program with the same domain is no
// newer name; the two of Tekton Chains are.
func TestFinalizersOfTwoPrograms(t *testing.T) {
	t.Parallel()
	run := graph.Type{Group: "tekton.dev", Version: "v1", Resource: "taskruns", Kind: "TaskRun", Namespaced: true}
	b := graph.NewBuilder()
	l := b.Listing(run, "n")
	l.Add(graph.Object{Namespace: "n", Name: "old", UID: "old", DeletionTimestamp: time.Now().Unix()})
	l.Add(graph.Object{Namespace: "n", Name: "new", UID: "new", Finalizers: []string{"chains.tekton.dev/taskrun"}})
	l.Complete()
	e := New(&core.Examination{Snapshot: core.Snapshot{Graph: b.Build()}, Registry: fixture.Packs(t)}, nil)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "tekton.dev/v1", "kind": "TaskRun"}}
	o.SetUID("old")
	for name, want := range map[string]bool{"chains.tekton.dev": true, "results.tekton.dev/taskrun": false} {
		seen := e.renamed(t.Context(), o, actor.Actor{Finalizer: name})
		if got := len(seen) > 0 && strings.Contains(seen[0].Says, "another version"); got != want {
			t.Errorf("%s: %v", name, seen)
		}
	}
}

// TestDomainsThatAProgramHasMovedTo: what is behind the domain is the same, and the domain begins alike.
func TestDomainsThatAProgramHasMovedTo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, other string
		want        bool
	}{
		{"metacontroller.app/compositecontroller-x", "metacontroller.io/compositecontroller-x", true},
		{"fleet.azure.com/work-cleanup", "fleet.kubernetes.io/work-cleanup", true},
		{"metacontroller.app/compositecontroller-x", "metacontroller.io/compositecontroller-y", false},
		{"a.example.com/cleanup", "b.example.com/cleanup", false},
		{"a.example.com/cleanup", "a.example.com/cleanup", false},
		{"cleanup", "cleanup", false},
	} {
		if got := hasMoved(test.name, test.other); got != test.want {
			t.Errorf("%s to %s: %t", test.name, test.other, got)
		}
	}
}

// TestMarksOfAProgram: labels and annotations of the domain of a finalizer, and none of Kubernetes.
func TestMarksOfAProgram(t *testing.T) {
	t.Parallel()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetLabels(map[string]string{"kuik.enix.io/managed": "true", "app.kubernetes.io/name": "x", "enix.io/team": "a", "io/x": "", "plain": ""})
	o.SetAnnotations(map[string]string{"images.pod.kuik.enix.io/original": "nginx", "other.io/x": "", "badkuik.enix.io/x": ""})
	for finalizer, want := range map[string]string{
		"pod.kuik.enix.io/finalizer":   "enix.io/team kuik.enix.io/managed images.pod.kuik.enix.io/original",
		"app.kubernetes.io/finalizer":  "", // of everybody
		"example.com/finalizer":        "",
		"kuik":                         "",
		"kuik.enix.io/another-cleanup": "enix.io/team kuik.enix.io/managed images.pod.kuik.enix.io/original",
	} {
		if got := strings.Join(marksOf(o, finalizer), " "); got != want {
			t.Errorf("%s: %q, want %q", finalizer, got, want)
		}
	}
}
