package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// TestColumnsAreWrittenAsKubectlWritesThem: a field that is not there is <none>, and braces and the
// first dot may be missing.
func TestColumnsAreWrittenAsKubectlWritesThem(t *testing.T) {
	t.Parallel()
	items := []any{
		map[string]any{"ref": map[string]any{"kind": "Pod", "name": "web"}, "depth": int64(1), "finalizers": []any{"a", "b"},
			"deletionTimestamp": nil},
		map[string]any{"ref": map[string]any{"kind": "Pod", "name": "x\x1b[31m"}, "root": true},
	}
	for spec, want := range map[string]string{
		"NAME:.ref.name,DEPTH:{.depth}": "NAME      DEPTH\nweb       1\nx^[[31m   <none>\n",
		"F:finalizers[*],ROOT:{root}":   "F        ROOT\na,b      <none>\n<none>   true\n",
		"SINCE:.deletionTimestamp":      "SINCE\n<none>\n<none>\n",
	} {
		columns, err := render.ParseColumns(spec)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		var out bytes.Buffer
		if err := columns.Write(&out, items, render.Style{}); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%q, want\n%q", spec, err, out.String(), want)
		}
	}
}

// TestColumnsWithoutHeaders are as wide as what is in them, for the read of a shell.
func TestColumnsWithoutHeaders(t *testing.T) {
	t.Parallel()
	columns, err := render.ParseColumnsFile("A-LONG-HEADER  B\n.a             .b\n")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := columns.Write(&out, []any{map[string]any{"a": "x", "b": "y"}}, render.Style{NoHeaders: true}); err != nil ||
		out.String() != "x   y\n" {
		t.Errorf("%v: %q", err, out.String())
	}
}

// TestColumnsThatCannotBeReadAreRefused with what is wrong with them.
func TestColumnsThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{"": "no custom columns given", "NAME": "want HEADER:PATH",
		"NAME:": "want HEADER:PATH", ":.a": "want HEADER:PATH", "A:{.a}{.b}": "unexpected path", "A:.a[": "column A"} {
		if _, err := render.ParseColumns(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", spec, err, want)
		}
	}
	for _, text := range []string{"", "A B\n.a\n", "A\n"} {
		if _, err := render.ParseColumnsFile(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
