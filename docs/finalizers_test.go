package docs_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// TestFinalizers fails when docs/finalizers.md is not what the packs say.
func TestFinalizers(t *testing.T) {
	packs, err := plugins.Packs()
	if err != nil {
		t.Fatal(err)
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("finalizers.md")
	if err != nil {
		t.Fatalf("%v; run make docs", err)
	}
	if want := docs.Finalizers(known.Packs()); string(got) != want {
		t.Errorf("docs/finalizers.md is out of date; run make docs\n%s", firstDifference(string(got), want))
	}
}

// TestPackKeys fails when packs have a key that docs/packs.md does not explain.
func TestPackKeys(t *testing.T) {
	text, err := os.ReadFile("packs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []any{finalizer.Known{}, finalizer.Alive{}, v1alpha1.SignPatterns{}, finalizer.Instance{},
		finalizer.Step{}, finalizer.Pause{}, finalizer.Need{}, finalizer.Hold{}, finalizer.Use{}, finalizer.Parent{}} {
		keys := reflect.TypeOf(of)
		for i := range keys.NumField() {
			key, _, _ := strings.Cut(keys.Field(i).Tag.Get("json"), ",")
			if key != "" && key != "-" && !strings.Contains(string(text), "| `"+key+"` |") {
				t.Errorf("docs/packs.md does not explain the key %q of %s", key, keys)
			}
		}
	}
}

// TestPackExample holds the example of docs/packs.md to what is loaded.
func TestPackExample(t *testing.T) {
	text, err := os.ReadFile("packs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/packs.md has no example")
	}
	known, err := finalizer.Load(fstest.MapFS{"example.yaml": {Data: []byte(example)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := known.Lookup("widgets.example.com/bucket", "example.com", "Widget"); !ok {
		t.Error("the example does not know its own finalizer")
	}
}
