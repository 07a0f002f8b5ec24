package finalizer

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// check returns what is wrong with a component.
func (a Alive) check() []error {
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, name := range a.named() {
		// What a placeholder becomes has no slash, where its key may.
		filled := placeholder.ReplaceAllString(name, "x")
		if _, err := path.Match(filled, ""); err != nil || strings.Count(filled, "/") != 1 || strings.HasPrefix(filled, "/") {
			add(fmt.Errorf(`%q: write namespace/name, with "*" for a namespace that is not known`, name))
		}
	}
	for _, image := range a.Images {
		filled := placeholder.ReplaceAllString(image, "x")
		first, rest, _ := strings.Cut(filled, "/")
		if strings.ContainsAny(filled, ":@*") || first == "" || rest != "" && strings.Contains(first, ".") {
			add(fmt.Errorf(`"images" has %q: write the path of the repository, without registry, tag and digest`, image))
		}
	}
	names := slices.Concat(a.named(), a.Labels, a.Images, a.APIServices, a.Webhooks)
	for _, name := range names {
		add(text("a name", name))
		add(checkPlaceholders(name))
	}
	for _, name := range a.Unverified {
		if !slices.Contains(names, name) {
			add(fmt.Errorf(`"unverified" has %q, which the component does not list`, name))
		}
	}
	if r := a.ReportedBy; r != nil {
		for _, err := range []error{text("kind", r.Kind), text("name", r.Name), text("condition", r.Condition),
			text("about", r.About), checkGroup(r.Group), checkPlaceholders(r.Name), errors.Join(checkWhere(r.Where)...)} {
			if err != nil {
				add(fmt.Errorf(`"reportedBy": %w`, err))
			}
		}
	}
	add(link.OneOf("follow", a.Follow, follows))
	if a.Instance.Label != "" {
		add(text("instance.label", a.Instance.Label))
	}
	if a.Note != "" {
		add(text("note", a.Note))
	}
	return errs
}

// placeholders are the names of placeholders, and whether a key follows.
var placeholders = map[string]bool{
	"group": false, "service": false, "domain": false, "namespace": false, "open": false, "label": true,
	"annotation": true, "field": true, "owner": true, "dashed": true,
}

// checkPlaceholders says what is wrong with the braces of a pattern.
func checkPlaceholders(pattern string) error {
	for _, m := range placeholder.FindAllStringSubmatch(pattern, -1) {
		name, key := m[1], m[2]
		if name == "dashed" {
			name, key, _ = strings.Cut(key, ":")
		}
		if withKey, known := placeholders[name]; !known || name == "dashed" || name != "namespace" && withKey != (key != "") {
			return fmt.Errorf("%q: %s is no placeholder: docs/packs.md lists them", pattern, m[0])
		}
	}
	if strings.ContainsAny(placeholder.ReplaceAllString(pattern, ""), "{}") {
		return fmt.Errorf("%q has a brace that belongs to no placeholder: docs/packs.md lists them", pattern)
	}
	return nil
}

// stepPlaceholder is a placeholder of a command, where other braces are those of a JSON path.
var stepPlaceholder = regexp.MustCompile(`\{[a-z]+\}`)

// For returns the command line for an object, whose type is written as kubectl takes it:
// resource.group. What a shell would not take for one word is quoted. A name that a program would
// take for an option is left out.
func (s Step) For(resource, namespace, name string) string {
	return stepPlaceholder.ReplaceAllStringFunc(s.Command, func(p string) string {
		value := map[string]string{"{type}": resource, "{namespace}": namespace, "{name}": name}[p]
		if strings.HasPrefix(value, "-") {
			return p
		}
		return phrase.ShellWord(value)
	})
}
