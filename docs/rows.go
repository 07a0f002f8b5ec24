package docs

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// RowSchema returns the JSON schema of a row of -o ndjson.
func RowSchema() ([]byte, error) {
	properties := map[string]any{}
	var required []string
	row := reflect.TypeFor[v1alpha1.Row]()
	for i := range row.NumField() {
		field := row.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		required = append(required, name)
		properties[name] = rowType(field.Type)
	}
	properties["row"] = map[string]any{"type": "string",
		"enum": []string{"cluster", "gap", "cause", "finding", "action", "survivor"}}
	schema, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A row of kubectl gc -o ndjson",
		"type": "object", "additionalProperties": false, "required": required, "properties": properties,
	}, "", "  ")
	return append(schema, '\n'), err
}

func rowType(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[*metav1.Time]():
		return map[string]any{"type": []string{"string", "null"}, "format": "date-time"}
	}
	return map[string]any{"type": map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean",
		reflect.Int: "integer"}[t.Kind()]}
}
