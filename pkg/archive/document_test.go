package archive

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// documents splits a stream as kubectl does and decodes each document.
func documents(t *testing.T, stream []byte) []map[string]any {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
	var all []map[string]any
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := yaml.YAMLToJSON(doc)
		if err != nil {
			t.Fatalf("%v in %q", err, doc)
		}
		object := map[string]any{}
		if err := utiljson.Unmarshal(raw, &object); err != nil {
			t.Fatalf("%v in %q", err, doc)
		}
		all = append(all, object)
	}
}

// readBack puts an object between two others and fails the test if any of the three is not what it
// was.
func readBack(t *testing.T, object map[string]any) {
	t.Helper()
	before, after := map[string]any{"kind": "Before"}, map[string]any{"kind": "After"}
	want := []map[string]any{before, object, after}
	var stream bytes.Buffer
	for i, o := range want {
		if i > 0 {
			stream.WriteString(separator)
		}
		doc, err := document(o)
		if err != nil {
			t.Fatal(err)
		}
		stream.Write(doc)
	}
	if diff := cmp.Diff(want, documents(t, stream.Bytes())); diff != "" {
		t.Errorf("read back (-want +got):\n%s\n%q", diff, stream.String())
	}
}

// hostile are pieces of text that mean something to YAML, to a terminal, or to who splits a stream
// at its lines.
var hostile = []string{
	"---", "\n---\nkind: Secret\n", "...", "\n", "\n\n", "\r\n", "\r", "\t", " ", "  ", "\x00", "\x1b[31m", "\x7f",
	"\u0085", "\u2028", "\u2029", "\ufeff", "\ufffe",
	"😀", "é", "'", `"`, `\`, "%", "@", "`", "&a", "*a", "!!binary", "!", "|", ">", "-", "- ", "?", ": ", ":", " #", "#",
	"[", "]", "{", "}", ",", "<<", "=",
	"yes", "null", "~", "1e3", "0x1f", "010", "1:20", "2001-01-01", ".inf", "a", "long words ",
}

// TestHostileTextReadsBack: whatever the text, alone or put together, as a value or a key.
func TestHostileTextReadsBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(6) {
			b.WriteString(hostile[rng.IntN(len(hostile))])
		}
		return b.String()
	}
	for _, s := range hostile {
		readBack(t, map[string]any{s: s, "list": []any{s, map[string]any{s: s}}})
	}
	for range 1000 {
		readBack(t, map[string]any{text(): text(), "list": []any{text(), map[string]any{text(): text()}}})
	}
}

// TestNumbersReadBack: the largest integer stays one, and a fraction a fraction.
func TestNumbersReadBack(t *testing.T) {
	readBack(t, map[string]any{
		"int": int64(9223372036854775807), "negative": int64(-9223372036854775808), "float": 0.1, "large": 1e300,
		"small": 5e-324, "zero": int64(0),
		"true": true, "false": false, "null": nil, "empty": "", "list": []any{}, "map": map[string]any{},
		"number in text": "1",
	})
}

// TestNoTextReachesATerminal: who looks at an archive must not be at the mercy of what is in it.
func TestNoTextReachesATerminal(t *testing.T) {
	for _, key := range []string{"a", "<<"} {
		doc, err := document(map[string]any{key: "\x1b[2J\u009b\x7f\ufeff\r\x00\n"})
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(doc), "\x1b\u009b\x7f\ufeff\r\x00") {
			t.Errorf("%q", doc)
		}
	}
}

func FuzzDocument(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, "x"+s)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		key, value = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(value, "?") // which a decoder of JSON does
		readBack(t, map[string]any{key: value, "list": []any{value, map[string]any{key: value}}})
	})
}
