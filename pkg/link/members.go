package link

import (
	"fmt"
	"regexp"
	"strings"
)

// members fills in the label selector; false if the source does not have what stands in it.
func (e Ends) members(object map[string]any) (Members, bool, error) {
	from := []any{object}
	if len(e.Decode) > 0 || !e.Field.IsZero() {
		var err error
		if from, err = e.values(object); err != nil || len(from) == 0 {
			return Members{}, false, err
		}
	}
	labels, ok := expand(e.Labels, from[0])
	if !ok {
		return Members{}, false, nil
	}
	name, ok := expand(e.Name, from[0])
	if !ok {
		return Members{}, false, nil
	}
	m := Members{Labels: labels, Name: name, Kinds: e.Kinds}
	m.Namespace, ok = e.namespace(object)
	return m, ok, nil
}

// namespace returns where the ends of an object are that name no namespace; false if the object
// does not have what stands in it.
func (e Ends) namespace(object map[string]any) (string, bool) {
	switch e.Namespace {
	case AnyNamespace:
		return "", true
	case "", SourceNamespace:
		own, _ := namespacePath.Text(object)
		return own, true
	}
	return expand(string(e.Namespace), object)
}

// placeholder is a path between braces.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// expand puts what an object has in the place of the paths between braces; false if it does not
// have it, or has what would change the meaning of a label selector.
func expand(text string, object any) (string, bool) {
	complete := true
	expanded := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		path, err := ParsePath(p[1 : len(p)-1])
		value, found := path.Text(object)
		if err != nil || !found || value == "" || strings.ContainsAny(value, ",=!() ") {
			complete = false
		}
		return value
	})
	return expanded, complete
}

// checkPlaceholders says what is wrong with the paths between braces of a text.
func checkPlaceholders(key, text string) error {
	for _, p := range placeholder.FindAllString(text, -1) {
		if path, err := ParsePath(p[1 : len(p)-1]); err != nil {
			return fmt.Errorf("%q: %w", key, err)
		} else if path.IsZero() {
			return fmt.Errorf("%q has {}: write a path between the braces", key)
		}
	}
	return nil
}
