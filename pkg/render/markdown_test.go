package render

import (
	"strings"
	"testing"
)

func TestTextOfObjectsIsNoMarkdown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ConfigMap/web is kept":         "ConfigMap/web is kept",
		"@everybody":                    "&#64;&#8203;everybody",
		"**bold** `code`":               "&#42;&#42;bold&#42;&#42; &#96;code&#96;",
		"<img src=x>":                   "&#60;img src=x&#62;",
		"[a](http://x)":                 "&#91;a&#93;&#40;http:<!-- -->//x&#41;",
		"www.example.com":               "www<!-- -->.example.com",
		"line\nline":                    `line&#92;nline`,
		"\x1b[2J":                       "^&#91;&#91;2J",
		"a|b":                           "a&#124;b",
		"waits for example.com/hold #1": "waits for example.com/hold &#35;&#8203;1",
	} {
		if got := inMarkdown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if strings.Contains(inMarkdown("&lt;b&gt;"), "&lt;") {
		t.Error("an entity of the text stays one")
	}
}
