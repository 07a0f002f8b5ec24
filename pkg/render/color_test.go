package render_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

func TestParseColor(t *testing.T) {
	for _, s := range []string{"auto", "always", "never"} {
		if when, err := render.ParseColor(s); err != nil || string(when) != s {
			t.Errorf("%s: %v, %v", s, when, err)
		}
	}
	for _, s := range []string{"", "Auto", "yes"} {
		if _, err := render.ParseColor(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

// TestColor: colour is on if it is asked for, off by itself where there is no terminal, and changes
// nothing but the colour.
func TestColor(t *testing.T) {
	plain := new(bytes.Buffer)
	if err := render.TreeTable(plain, shop(), render.Style{Wide: true}); err != nil {
		t.Fatal(err)
	}
	for when, colored := range map[render.When]bool{render.Auto: false, render.Never: false, render.Always: true} {
		out := new(bytes.Buffer)
		if err := render.TreeTable(out, shop(), render.NewStyle(when, out, true)); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(out.Bytes(), []byte("\x1b[")) != colored {
			t.Errorf("%s: colours %v, want %v", when, !colored, colored)
		}
		without := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAll(out.Bytes(), nil)
		if !bytes.Equal(without, plain.Bytes()) {
			t.Errorf("%s: without colours it reads\n%s", when, without)
		}
	}
}
