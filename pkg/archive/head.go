package archive

import (
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
	utiljson "k8s.io/apimachinery/pkg/util/json"

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
	text, err := yaml.Marshal(v)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
