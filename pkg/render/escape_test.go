package render_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

func TestEscape(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "web-5d9c", "web-5d9c"},
		{"none", "", ""},
		{"other scripts", "日本語 ünï", "日本語 ünï"},
		{"terminal sequence", "\x1b[31mred", "^[[31mred"},
		{"C1 sequence", "\u009b31mred", `\u009b31mred`},
		{"carriage return", "a\rb", `a\rb`},
		{"line break", "a\nb", `a\nb`},
		{"tab", "a\tb", `a\tb`},
		{"bell, backspace, delete, NUL", "\a\b\x7f\x00", `\u0007\u0008\u007f\u0000`},
		{"right-to-left override", "a\u202eb", `a\u202eb`},
		{"isolate", "a\u2067b\u2069", `a\u2067b\u2069`},
		{"Arabic letter mark", "a\u061cb", `a\u061cb`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"invalid bytes", "a\xffb", "a\ufffdb"},
		{"half a sequence in UTF-8", "\xc2\x9b31m", `\u009b31m`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := render.Escape(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEscapeEveryRune: nothing that moves the cursor or turns the direction of writing is left.
func TestEscapeEveryRune(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if bad, ok := unsafeRune(render.Escape(string(r))); !ok {
			t.Errorf("%U is left as %U", r, bad)
		}
	}
}

// unsafeRune returns the first rune that must not reach a terminal. It goes by Unicode's tables and
// not by the ranges that the package names.
func unsafeRune(s string) (rune, bool) {
	for _, r := range s {
		if unicode.Is(unicode.Cc, r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return r, false
		}
	}
	return 0, utf8.ValidString(s)
}

func TestEscapeLines(t *testing.T) {
	if got, want := phrase.EscapeLines("one\x1b[1m\ntwo\r\n"), "one^[[1m\ntwo\\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzEscape(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := render.Escape(s)
		if bad, ok := unsafeRune(once); !ok {
			t.Errorf("%q is escaped as %q, with %U in it", s, once, bad)
		}
		if twice := render.Escape(once); twice != once {
			t.Errorf("%q is escaped as %q, and that as %q", s, once, twice)
		}
	})
}
