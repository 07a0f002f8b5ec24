package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// TestExplanationsEscapeWhatAClusterSays: finalizers and types come from objects, and must not move
// the cursor or begin a line.
func TestExplanationsEscapeWhatAClusterSays(t *testing.T) {
	for _, text := range hostileTexts {
		e := &v1alpha1.Explanation{Finalizers: []v1alpha1.ExplainedFinalizer{{
			Name: text, Known: true, Form: "^" + text, Actor: text, Component: text, Before: text, Kinds: []string{text},
			Signs: &v1alpha1.Signs{SignPatterns: v1alpha1.SignPatterns{Deployments: []string{text}}, Note: text},
			Found: []v1alpha1.FinalizersOn{{APIVersion: text + "/v1", Kind: text, Resource: text, Objects: 1}},
		}}}
		var table, names, full bytes.Buffer
		for _, err := range []error{
			render.FinalizersPresent(&table, e, render.Style{Wide: true}), render.ExplanationNames(&names, e),
			render.Explanation(&full, e, render.Style{}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, out := range []string{table.String(), names.String(), full.String()} {
			for _, line := range strings.Split(out, "\n") {
				if bad, ok := unsafeRune(line); !ok {
					t.Errorf("%q: %U in %q", text, bad, line)
				}
			}
		}
		if got := strings.Count(table.String(), "\n"); got != 3 {
			t.Errorf("%q: %d lines, want a header, a row and a summary:\n%s", text, got, &table)
		}
	}
}

// TestExplanationWrapsAtAHundredColumns, on a terminal or not, but for what has no space in it and
// for commands, which are there to be copied.
func TestExplanationWrapsAtAHundredColumns(t *testing.T) {
	long := strings.Repeat("a sentence that goes on ", 20)
	command := "kubectl get " + strings.Repeat("widget/long-name ", 10)
	e := &v1alpha1.Explanation{Finalizers: []v1alpha1.ExplainedFinalizer{{
		Name: "x", Form: "x", Kinds: []string{"*"}, Does: long, Note: long,
		Protect: []v1alpha1.ProtectStep{{Command: command, Does: long}},
	}}}
	for _, c := range []struct{ terminal, most int }{{0, 100}, {200, 100}, {60, 60}} {
		var out bytes.Buffer
		if err := render.Explanation(&out, e, render.Style{Width: c.terminal}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), command) {
			t.Errorf("the command is wrapped:\n%s", &out)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if len(line) > c.most && !strings.Contains(line, command) {
				t.Errorf("with %d columns a line has %d: %q", c.terminal, len(line), line)
			}
		}
	}
}
