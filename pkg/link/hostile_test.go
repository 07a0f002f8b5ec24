package link

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// secretOf is a Secret of Helm with some JSON in it.
func secretOf(t *testing.T, release string) map[string]any {
	t.Helper()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(release)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(zipped.Bytes())))
	return map[string]any{
		"metadata": map[string]any{"name": "r", "namespace": "shop", "labels": map[string]any{"owner": "helm"}},
		"data":     map[string]any{"release": text},
	}
}

func releaseOf(t *testing.T, manifest string) string {
	t.Helper()
	release, err := json.Marshal(map[string]any{"manifest": manifest})
	if err != nil {
		t.Fatal(err)
	}
	return string(release)
}

// TestWhatAnObjectNamesIsBounded: a few KB of a Secret, which anybody may write, can name as much
// as a cluster has. What is beyond the bound is said, and what is before it is there.
func TestWhatAnObjectNamesIsBounded(t *testing.T) {
	d := definition(t, releaseLink)
	document := func(i int) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i)
	}
	var many, few strings.Builder
	for i := range 3 * maxEnds {
		many.WriteString(document(i))
	}
	for i := range maxEnds {
		few.WriteString(document(i))
	}
	for name, tt := range map[string]struct {
		json string
		ends int
		err  string
	}{
		"equal documents":   {releaseOf(t, strings.Repeat(document(1), 80_000)), 1, ""},
		"as many as it may": {releaseOf(t, few.String()), maxEnds, ""},
		"more":              {releaseOf(t, many.String()), maxEnds, "more than 5000 objects are named"},
		"a large document": {releaseOf(t, document(1)+document(2)+"# "+strings.Repeat("x", maxDocument)), 1,
			"more than 2 MiB"},
		"a large text": {releaseOf(t, strings.Repeat("x", maxDecoded)), 0, "more than 16 MiB"},
		"many values": {`{"manifest": "", "x": [` + strings.Repeat("{},", maxValues) + "0]}", 0,
			"more than 1048576 values"},
		"something that is not": {`{"manifest": "a: b\n---\n: : :"}`, 0, "document 2"},
	} {
		named, _, err := d.References(secretOf(t, tt.json))
		if len(named) != tt.ends || tt.err == "" && err != nil || tt.err != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %d ends, want %d; error %v, want %q", name, len(named), tt.ends, err, tt.err)
		}
	}
	if read, err := manifests(document(1)[len("---"):] + strings.Repeat(document(1), 80_000)); len(read) != 1 ||
		err != nil {
		t.Errorf("equal documents are decoded %d times, error %v", len(read), err)
	}
	if read, err := manifests(many.String()); len(read) > maxEnds+1 || err == nil {
		t.Errorf("%d documents are decoded, error %v", len(read), err)
	}
}

// TestAListOfReferencesIsBounded, and what it names twice is named once.
func TestAListOfReferencesIsBounded(t *testing.T) {
	d := definition(
		t, "{from: {kinds: [v1/ConfigMap]}, ends: [{form: reference, field: 'data.all[*]', kind: v1/Secret}], deletion: {of: neither}}")
	list := func(n int, name func(int) string) map[string]any {
		all := make([]any, n)
		for i := range all {
			all[i] = map[string]any{"name": name(i)}
		}
		return map[string]any{"metadata": map[string]any{"name": "a", "namespace": "b"}, "data": map[string]any{"all": all}}
	}
	named, _, err := d.References(list(40_000, func(i int) string { return fmt.Sprint("s", i) }))
	if len(named) != maxEnds || err == nil || !strings.Contains(err.Error(), "are not looked at") {
		t.Errorf("%d ends, %v", len(named), err)
	}
	if named, _, err := d.References(list(40_000, func(int) string { return "s" })); len(named) != 1 || err != nil {
		t.Errorf("%d ends, %v", len(named), err)
	}
}

// TestTheKindsThatAnObjectNamesAreBounded: each is looked for among all objects.
func TestTheKindsThatAnObjectNamesAreBounded(t *testing.T) {
	e := Ends{Form: Instances}
	kinds := make([]any, 0, 3*maxKinds)
	for i := range 3 * maxKinds {
		kinds = append(kinds, map[string]any{"group": "example.com", "kind": fmt.Sprint("K", i/2)})
	}
	path, err := ParsePath("kinds[*]")
	if err != nil {
		t.Fatal(err)
	}
	e.Field = path
	if members, err := e.instances(map[string]any{"kinds": kinds}); len(members) != maxKinds || err == nil {
		t.Errorf("%d kinds, %v", len(members), err)
	}
	if members, err := e.instances(map[string]any{"kinds": kinds[:maxKinds]}); len(members) != maxKinds/2 || err != nil {
		t.Errorf("%d kinds, %v", len(members), err)
	}
}
