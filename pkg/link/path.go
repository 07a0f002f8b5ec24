package link

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Path leads to fields of an object, as JSONPath writes it: names with dots between them, ['a.b/c']
// for a name that has dots, and [*] for all items of a list.
type Path struct{ steps []string }

// allItems is the step that goes through a list. No field is called so.
const allItems = "[*]"

// ParsePath reads a path. The error says what is wrong with it.
func ParsePath(text string) (Path, error) {
	var p Path
	for rest := text; rest != ""; {
		step, left, err := nextStep(rest, len(p.steps) == 0)
		if err != nil {
			return Path{}, fmt.Errorf("%q is no path: %w", text, err)
		}
		p.steps, rest = append(p.steps, step), left
	}
	return p, nil
}

func nextStep(text string, first bool) (step, rest string, err error) {
	switch {
	case strings.HasPrefix(text, allItems):
		return allItems, text[len(allItems):], nil
	case strings.HasPrefix(text, "['"):
		name, rest, closed := strings.Cut(text[2:], "']")
		if !closed || name == "" {
			return "", "", fmt.Errorf("write a name in brackets as ['name']")
		}
		return name, rest, nil
	case !first && text[0] == '.':
		text = text[1:]
	case !first:
		return "", "", fmt.Errorf("write a dot between names")
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	name := text[:end]
	if !plain(name) {
		return "", "", fmt.Errorf("write a name with other characters than letters and digits in brackets as ['name']")
	}
	return name, text[end:], nil
}

// plain reports whether a name stands in a path without brackets.
func plain(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// UnmarshalJSON reads a path from the text of it.
func (p *Path) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("a path is a text: %w", err)
	}
	parsed, err := ParsePath(text)
	*p = parsed
	return err
}

// MarshalJSON writes the text of a path.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal(p.String()) }

// IsZero reports whether the path is empty, which leads to the object itself.
func (p Path) IsZero() bool { return len(p.steps) == 0 }

// String returns the path as it is written.
func (p Path) String() string {
	var text strings.Builder
	for i, step := range p.steps {
		switch {
		case step == allItems:
			text.WriteString(step)
		case !plain(step):
			text.WriteString("['" + step + "']")
		case i > 0:
			text.WriteString("." + step)
		default:
			text.WriteString(step)
		}
	}
	return text.String()
}

// Pointer returns the path as a JSON Pointer (RFC 6901), as JSON patches have it. A path through
// the items of a list has none: it is false then.
func (p Path) Pointer() (string, bool) {
	var pointer strings.Builder
	for _, step := range p.steps {
		if step == allItems {
			return "", false
		}
		pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return pointer.String(), true
}

// AnnotationPath leads to an annotation.
func AnnotationPath(key string) Path { return Path{[]string{"metadata", "annotations", key}} }

// JSON returns what an object has there, as JSON; empty if that is nothing.
func (p Path) JSON(object map[string]any) string {
	values := p.all(object)
	if len(values) == 0 {
		return ""
	}
	var text []byte
	var err error
	if slices.Contains(p.steps, allItems) {
		text, err = json.Marshal(values)
	} else {
		text, err = json.Marshal(values[0])
	}
	if err != nil {
		return err.Error() // an object that was read as JSON has none
	}
	return string(text)
}

// all returns what an object has there; nothing if a field on the way is missing, or is no object
// or list.
func (p Path) all(object any) []any {
	values := []any{object}
	for _, step := range p.steps {
		var next []any
		for _, v := range values {
			switch v := v.(type) {
			case []any:
				if step == allItems {
					next = append(next, v...)
				}
			case map[string]any:
				if field, ok := v[step]; ok && step != allItems {
					next = append(next, field)
				}
			}
		}
		values = next
	}
	return slices.DeleteFunc(values, func(v any) bool { return v == nil })
}

// With returns a copy of an object that has a text there. An object in which the path leads through
// something else than fields stays as it is.
func (p Path) With(object map[string]any, text string) map[string]any {
	with := maps.Clone(object)
	switch step := p.steps[0]; {
	case step == allItems:
	case len(p.steps) == 1:
		with[step] = text
	default:
		if field, ok := object[step].(map[string]any); ok {
			with[step] = Path{p.steps[1:]}.With(field, text)
		}
	}
	return with
}

// Objects returns those of what an object has there that have fields.
func (p Path) Objects(object map[string]any) []map[string]any {
	var all []map[string]any
	for _, v := range p.all(object) {
		if fields, ok := v.(map[string]any); ok {
			all = append(all, fields)
		}
	}
	return all
}

// Text returns the first scalar that an object has there, as text; false if there is none.
func (p Path) Text(object any) (string, bool) {
	all := p.Texts(object)
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// Texts returns the scalars that an object has there, as texts.
func (p Path) Texts(object any) []string {
	var all []string
	for _, v := range p.all(object) {
		if text, ok := scalar(v); ok {
			all = append(all, text)
		}
	}
	return all
}

// scalar returns a value as text; false if it is a list or an object.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}
