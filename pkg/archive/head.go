package archive

import (
	"encoding/json"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v2"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// writePlan writes a plan as -o yaml prints it, but one entry of its lists at a time: the library keeps all of what it writes at once in
// memory, many times over, and a plan is as long as the cascade. Entries stand without indent, so that the pieces make the whole.
func writePlan(w io.Writer, head *v1alpha1.Plan) error {
	raw, err := json.Marshal(head)
	if err != nil {
		return err
	}
	var plan map[string]any
	if err := utiljson.Unmarshal(raw, &plan); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(plan)) {
		entries, _ := plan[key].([]any)
		if len(entries) == 0 {
			if err := writeYAML(w, map[string]any{key: plan[key]}); err != nil {
				return err
			}
			continue
		}
		if _, err := io.WriteString(w, key+":\n"); err != nil {
			return err
		}
		for _, entry := range entries {
			if err := writeYAML(w, []any{entry}); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeYAML(w io.Writer, v any) error {
	text, err := yaml.Marshal(v)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
