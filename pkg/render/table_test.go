package render

import (
	"bytes"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// FuzzWidthIsTheLibrarys: what is added up of two parts is what the library says of the whole.
func FuzzWidthIsTheLibrarys(f *testing.F) {
	for _, s := range []string{
		"", "web", "├─Pod/web", "\x1b[2m│ ├─\x1b[0m\x1b[36mPod\x1b[0m/web (+3)", "\x1b[33mDeleting(5s)\x1b[0m", "日本", "日本-1",
		"é", "e\u0301x", "\x1b[", "\x1bm", "a\x7fb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		printed := Escape(s)
		for _, text := range []string{printed, "├┄" + printed, "\x1b[2m" + printed + "\x1b[0m/" + printed, printed + "…"} {
			if got, want := width(text), twwidth.Width(text); got != want {
				t.Errorf("%q is %d wide, want %d", text, got, want)
			}
		}
	})
}

// TestATableIsAsWideAsItHasToBe: columns stand three spaces apart, whatever is in them, and no line
// ends in spaces.
func TestATableIsAsWideAsItHasToBe(t *testing.T) {
	var out bytes.Buffer
	err := Style{}.writeTable(&out, []string{"NAME", "STATE", "OWNERS"}, [][]string{
		{"├─Pod/web", "\x1b[33mDeleting\x1b[0m", "-"}, {"日本", "", "ReplicaSet/web "}, {"a", "Active", ""}, {"b", "", ""},
		{"", "", ""},
	})
	want := "NAME        STATE      OWNERS\n├─Pod/web   \x1b[33mDeleting\x1b[0m   -\n日本                   ReplicaSet/web\na           Active\nb\n\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%q, want\n%q", err, out.String(), want)
	}
}
