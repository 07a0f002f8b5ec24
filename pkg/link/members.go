package link

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// members fills in the selectors; false if the source does not have what stands in it.
func (e Ends) members(object map[string]any) (Members, bool, error) {
	from := []any{object}
	if len(e.Decode) > 0 || !e.Field.IsZero() {
		var err error
		if from, err = e.values(object); err != nil || len(from) == 0 {
			return Members{}, false, err
		}
	}
	m := Members{Kinds: e.Kinds}
	for filled, text := range map[*string]string{&m.Labels: e.Labels, &m.Fields: e.Fields, &m.Name: e.Name} {
		var ok bool
		if *filled, ok = expand(text, from[0]); !ok {
			return Members{}, false, nil
		}
	}
	var ok bool
	m.Namespace, ok = e.namespace(object)
	own, namespaced := namespacePath.Text(object)
	m.NameSource = strings.Contains(e.Fields, "{metadata.name}") && (!namespaced || m.Namespace == own)
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

// Selects reports whether an object that was read whole matches the selectors and has the name and
// the namespace. An error is of a selector in which what the source has there makes none.
func (m Members) Selects(o *unstructured.Unstructured) (bool, error) {
	byLabel, err := labels.Parse(m.Labels)
	if err != nil {
		return false, err
	}
	byField, err := fields.ParseSelector(m.Fields)
	has := fields.Set{}
	if err == nil {
		for _, r := range byField.Requirements() {
			var path Path
			if path, err = ParsePath(r.Field); err != nil {
				break
			}
			has[r.Field], _ = path.Text(o.Object)
		}
	}
	return err == nil && byLabel.Matches(labels.Set(o.GetLabels())) && byField.Matches(has) &&
		(m.Name == "" || o.GetName() == m.Name) && (m.Namespace == "" || o.GetNamespace() == m.Namespace), err
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

// UsersOf returns for which objects a guard keeps its end, and why it does in words, as far as it
// says so.
func (d *Definition) UsersOf(guard map[string]any) (users []Named, reason string) {
	for _, u := range d.Users {
		found, _ := u.named(guard) // what could be understood comes with an error
		users = append(users, found...)
	}
	if !d.ReasonField.IsZero() {
		reason, _ = d.ReasonField.Text(guard)
	}
	return users, reason
}

// checkGuard returns what is wrong with what a definition says of users.
func (d *Definition) checkGuard() []error {
	var errs Problems
	if d.Deletion.Of != Guard && (len(d.Users) > 0 || !d.ReasonField.IsZero()) {
		errs.Add("", errors.New(`"users" and "reasonField" are for a deletion "of" guard`))
	}
	if w := d.DryRunWrites; w != nil {
		if d.Deletion.Of != Guard {
			errs.Add("", errors.New(`"dryRunWrites" is for a deletion "of" guard`))
		}
		errs.Add(`"dryRunWrites": `, required("label", w.Label), required("writes", w.Writes))
		if len(w.Webhooks) == 0 {
			errs.Add(`"dryRunWrites": `, errors.New(`"webhooks" is empty: name the webhooks that write`))
		}
	}
	for _, u := range d.Users {
		if u.Form == Labels {
			errs.Add(`"users": `, errors.New(`write the form "reference" or "text": a guard names its users one by one`))
			continue
		}
		errs.Add(`"users": `, u.check()...)
	}
	return errs
}

// anyKind as the kind of instances means all kinds of the group.
const anyKind = "*"

// patterns are characters that stand for others in a pattern of kinds.
const patterns = `*?[]\/ ,`

// maxKinds is how many kinds an object may name: each is looked for among all objects.
const maxKinds = 500

// instances are all objects of the kinds that an object names, or of all kinds of the group.
func (e Ends) instances(object map[string]any) ([]Members, error) {
	values, err := e.values(object)
	if err != nil {
		return nil, err
	}
	of := e
	if e.Kind == anyKind {
		of.Kind = ""
	}
	var all []Members
	seen := map[string]bool{}
	for _, v := range values {
		n := of.fromReference(v)
		group, kind := cmp.Or(n.Group, "v1"), n.Kind
		if strings.ContainsAny(group+kind, patterns) || kind == "" && e.Kind != anyKind {
			continue
		}
		kind = cmp.Or(kind, anyKind)
		if seen[group+"/"+kind] {
			continue
		}
		if len(all) == maxKinds {
			return all, fmt.Errorf("%s names more than %d kinds, and the others are not looked at", e.Field, maxKinds)
		}
		seen[group+"/"+kind] = true
		all = append(all, Members{Kinds: []graph.KindPattern{graph.KindPattern(group + "/" + kind)}, Field: e.Field.String(),
			Category: e.Category})
	}
	return all, nil
}
