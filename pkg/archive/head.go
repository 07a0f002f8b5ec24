package archive

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// writePlan writes a plan as -o yaml prints it, but one entry of its lists at a time: the library
// keeps all of what it writes at once in memory, many times over, and a plan is as long as the
// cascade. Entries stand without indent, so that the pieces make the whole.
func writePlan(w io.Writer, head *v1alpha1.Plan) error {
	long, rest := lists(head), *head
	for _, list := range lists(&rest) {
		list.SetZero()
	}
	fields, err := decoded(&rest)
	if err != nil {
		return err
	}
	keys, _ := fields.(map[string]any)
	for key := range long {
		keys[key] = nil
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		list, is := long[key]
		if !is {
			if err := writeYAML(w, map[string]any{key: keys[key]}); err != nil {
				return err
			}
			continue
		}
		if _, err := io.WriteString(w, key+":\n"); err != nil {
			return err
		}
		for i := range list.Len() {
			if err := writeEntry(w, list.Index(i).Interface()); err != nil {
				return err
			}
		}
	}
	return nil
}

// lists are the lists of a plan that are not empty, by their keys.
func lists(p *v1alpha1.Plan) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	plan := reflect.ValueOf(p).Elem()
	for i := range plan.NumField() {
		key, _, _ := strings.Cut(plan.Type().Field(i).Tag.Get("json"), ",")
		if field := plan.Field(i); field.Kind() == reflect.Slice && field.Len() > 0 {
			all[key] = field
		}
	}
	return all
}

func writeEntry(w io.Writer, entry any) error {
	v, err := decoded(entry)
	if err != nil {
		return err
	}
	return writeYAML(w, []any{v})
}

// decoded returns a value as its JSON is decoded.
func decoded(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	return out, utiljson.Unmarshal(raw, &out)
}

func writeYAML(w io.Writer, v any) error {
	text, err := yamlv2.Marshal(v)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// entriesAtOnce is how many entries of a list of a plan are decoded at once. The library needs many
// times the memory of what it decodes, and a plan is as long as the cascade.
const entriesAtOnce = 500

// readPlan decodes a plan: in pieces if it is laid out as writePlan does, which comes to the same,
// and otherwise as a whole.
func readPlan(doc []byte) (*v1alpha1.Plan, error) {
	if err := dense(doc, planPerToken); err != nil {
		return nil, err
	}
	if pieces, ok := cutPlan(doc); ok {
		if p, err := readPieces(pieces); err == nil {
			return p, nil
		}
	}
	p := &v1alpha1.Plan{}
	return p, unmarshal(doc, p)
}

// unmarshal decodes YAML of which no more is decoded at once than of an object.
func unmarshal(doc []byte, into any) error {
	if err := bounded(doc); err != nil {
		return err
	}
	return yaml.Unmarshal(doc, into)
}

func readPieces(pieces [][]byte) (*v1alpha1.Plan, error) {
	p := &v1alpha1.Plan{}
	whole := reflect.ValueOf(p).Elem()
	for _, piece := range pieces[1:] {
		part := &v1alpha1.Plan{}
		if err := unmarshal(piece, part); err != nil {
			return nil, err
		}
		for i := range whole.NumField() {
			if from, to := reflect.ValueOf(part).Elem().Field(i), whole.Field(i); from.Kind() == reflect.Slice &&
				from.Len() > 0 {
				to.Set(reflect.AppendSlice(to, from))
			}
		}
	}
	return p, unmarshal(pieces[0], p)
}

// keyLine is a line that begins a field of a plan.
var keyLine = regexp.MustCompile(`^[A-Za-z]+:(\s|$)`)

// cutPlan cuts the document of a plan at the entries of its lists, which begin where the line does:
// the first piece has all other fields, and each of the others the key of a list with some of its
// entries. It is false if the document is laid out otherwise.
func cutPlan(doc []byte) (pieces [][]byte, ok bool) {
	pieces = [][]byte{nil}
	seen := map[string]bool{}
	var key, entries []byte // of the list that is being read
	n := 0
	flush := func() {
		if n > 0 {
			pieces = append(pieces, entries)
		}
		entries, n = nil, 0
	}
	for line := range bytes.Lines(doc) {
		switch {
		case keyLine.Match(line):
			flush()
			if name := string(line[:bytes.IndexByte(line, ':')]); seen[name] {
				return nil, false
			} else {
				seen[name] = true
			}
			key = nil
			if bytes.HasSuffix(bytes.TrimSpace(line), []byte(":")) {
				key = line // a list may follow
				continue
			}
			pieces[0] = append(pieces[0], line...)
		case bytes.HasPrefix(line, []byte("- ")) && key != nil:
			if n == entriesAtOnce {
				flush()
			}
			if n++; n == 1 {
				entries = append(entries, key...)
			}
			entries = append(entries, line...)
		case line[0] != ' ' && len(bytes.TrimSpace(line)) > 0 && line[0] != '#':
			return nil, false
		case n > 0:
			entries = append(entries, line...)
		case key != nil && line[0] == ' ':
			return nil, false // no list, or one that is indented
		default:
			pieces[0] = append(pieces[0], line...)
		}
	}
	flush()
	return pieces, true
}
