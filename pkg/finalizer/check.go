package finalizer

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// check returns what is wrong with an entry, and compiles its regular expression.
func (k *Known) check() []error {
	var errs link.Problems
	errs.Add("", text("id", k.ID), k.checkForm(), checkKinds(k.Kinds), link.OneOf("field", k.Field, fields),
		text("component", k.Component), clause("does", k.Does), clause("ifRemoved", k.IfRemoved),
		link.OneOf("risk", k.Risk, risks), link.OneOf("polarity", k.Polarity, polarities),
		link.OneOf("verified", k.Verified, verified))
	for _, optional := range []struct{ key, value string }{{"actor", k.Actor}, {"before", k.Before}, {"knob", k.Knob},
		{"note", k.Note}} {
		if optional.value != "" {
			errs.Add("", text(optional.key, optional.value))
		}
	}
	if !strings.HasPrefix(k.Source, "https://") {
		errs.Add("", fmt.Errorf(`"source" is %q: give the https:// address where it can be read`, k.Source))
	}
	return append(errs, k.checkRelated()...)
}

func (k *Known) checkForm() error {
	given := 0
	for _, form := range []string{k.Exact, k.Prefix, k.Suffix, k.Regex} {
		if form == "" {
			continue
		}
		given++
		if err := text("the name of the finalizer", form); err != nil {
			return err
		}
	}
	if given != 1 {
		return errors.New(`give exactly one of "exact", "prefix", "suffix" and "regex"`)
	}
	if k.Fallback && k.Exact != "" {
		return errors.New(`"fallback" is for what only has a form: leave it out with "exact"`)
	}
	if k.Regex == "" {
		return nil
	}
	if !strings.HasPrefix(k.Regex, "^") || !strings.HasSuffix(k.Regex, "$") {
		return fmt.Errorf(`"regex" is %q: begin it with ^ and end it with $, it is about the whole name`, k.Regex)
	}
	var err error
	if k.regex, err = regexp.Compile(k.Regex); err != nil {
		return fmt.Errorf(`"regex" is no regular expression: %w`, err)
	}
	return nil
}

func checkKinds(kinds []string) error {
	if len(kinds) == 0 {
		return errors.New(`"kinds" is empty: list v1/Kind or group/Kind, or "*" for all`)
	}
	for _, kind := range kinds {
		if kind == "*" {
			continue
		}
		if _, err := path.Match(kind, ""); err != nil || strings.Count(kind, "/") != 1 || strings.ContainsAny(kind, " ,") {
			return fmt.Errorf(`"kinds" has %q: write v1/Kind, group/Kind, group/*, or "*" for all`, kind)
		}
	}
	return nil
}

// text holds what is printed: it must be there, and on one line.
func text(key, value string) error {
	switch {
	case value == "":
		return fmt.Errorf("%q is missing", key)
	case strings.TrimSpace(value) != value || strings.ContainsFunc(value, unprintable):
		return fmt.Errorf("%q is %q: write one line, without spaces around it", key, value)
	}
	return nil
}

// unprintable is what a terminal would act on, or would not show.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// clause holds what becomes part of a sentence.
func clause(key, value string) error {
	if strings.HasSuffix(value, ".") {
		return fmt.Errorf("%q is %q: leave the full stop out, it becomes part of a sentence", key, value)
	}
	return text(key, value)
}

// duplicates finds ids that are there twice in the packs of a folder, and finalizers that two
// entries know exactly, on the same kind.
func duplicates(packs []Pack) []error {
	type claim struct{ form, kind string }
	ids, claims := map[[2]string]string{}, map[claim]string{}
	var errs []error
	for _, pack := range packs {
		note := func(article, what, id string) {
			if other, twice := ids[[2]string{what, id}]; twice && id != "" {
				errs = append(errs, fmt.Errorf("%s: %s %q: %s has %s %s of that id: give it another", pack.File, what, id, other,
					article, what))
			}
			ids[[2]string{what, id}] = pack.File
		}
		for _, d := range pack.Links {
			note("a", "link", d.ID)
		}
		for _, p := range pack.Pruners {
			note("a", "pruner", p.ID)
		}
		for _, k := range pack.Finalizers {
			note("an", "entry", k.ID)
			if k.Exact == "" {
				continue
			}
			for _, kind := range slices.Compact(slices.Sorted(slices.Values(k.Kinds))) {
				c := claim{k.Exact, kind}
				if other, twice := claims[c]; twice {
					errs = append(errs, fmt.Errorf("%s: entry %q: entry %q knows %s on %s too: merge them", pack.File, k.ID, other,
						k.Exact, kind))
				}
				claims[c] = k.ID
			}
		}
	}
	return errs
}

// check returns what is wrong with a component.
func (a Alive) check() []error {
	var errs link.Problems
	for _, name := range a.named() {
		// What a placeholder becomes has no slash, where its key may.
		filled := placeholder.ReplaceAllString(name, "x")
		if _, err := path.Match(filled, ""); err != nil || strings.Count(filled, "/") != 1 || strings.HasPrefix(filled, "/") {
			errs.Add("", fmt.Errorf(`%q: write namespace/name, with "*" for a namespace that is not known`, name))
		}
	}
	for _, image := range a.Images {
		filled := placeholder.ReplaceAllString(image, "x")
		first, rest, _ := strings.Cut(filled, "/")
		if strings.ContainsAny(filled, ":@*") || first == "" || rest != "" && strings.Contains(first, ".") {
			errs.Add("",
				fmt.Errorf(`"images" has %q: write the path of the repository, without registry, tag and digest`, image))
		}
	}
	names := slices.Concat(a.named(), a.Labels, a.Images, a.APIServices, a.Webhooks)
	for _, name := range names {
		errs.Add("", text("a name", name), checkPlaceholders(name))
	}
	for _, name := range a.Unverified {
		if !slices.Contains(names, name) {
			errs.Add("", fmt.Errorf(`"unverified" has %q, which the component does not list`, name))
		}
	}
	if r := a.ReportedBy; r != nil {
		errs.Add(`"reportedBy": `, append(checkWhere(r.Where), text("kind", r.Kind), text("name", r.Name),
			text("condition", r.Condition), text("about", r.About), checkGroup(r.Group), checkPlaceholders(r.Name))...)
	}
	errs.Add("", link.OneOf("follow", a.Follow, follows))
	if a.Instance.Label != "" {
		errs.Add("", text("instance.label", a.Instance.Label))
	}
	if a.Note != "" {
		errs.Add("", text("note", a.Note))
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

// fieldPath is a path to a field: names with dots between them.
var fieldPath = regexp.MustCompile(`^[a-z][A-Za-z0-9]*(\.[a-zA-Z0-9]+)*$`)

// checkRelated returns what is wrong with what an entry says beside the finalizer.
func (k *Known) checkRelated() []error {
	var errs link.Problems
	add := func(key string, i int, all ...error) { errs.Add(fmt.Sprintf("%q, number %d: ", key, i+1), all...) }
	for i, s := range k.Protect {
		add("protect", i, s.check(), clause("does", s.Does))
	}
	errs.Add(`"claims": `, checkPlaceholders(k.PVCs))
	for i, p := range k.PausedBy {
		add("pausedBy", i, p.check())
	}
	errs.Add(`"spares", `, link.CheckAlternatives(k.Spares)...)
	errs.Add(`"deletesNothing", `, link.CheckAlternatives(k.DeletesNothing)...)
	for i, d := range k.Decides {
		add("decides", i, d.check()...)
	}
	for i, e := range k.External {
		add("external", i, append(e.at().check(), clause("is", e.Is))...)
	}
	for i, n := range k.Needs {
		add("needs", i, n.check()...)
	}
	for i, t := range k.Takes {
		add("takes", i, t.check()...)
	}
	for i, h := range k.HeldBy {
		add("heldBy", i, h.check()...)
	}
	for i, u := range k.UsedBy {
		add("usedBy", i, text("kind", u.Kind), text("nameField", u.NameField), checkScope(u.Scope, u.NamespaceField),
			checkGroup(u.Group),
			checkFields(u.KindField, u.ForField, u.NameField, u.NamespaceField))
		add("usedBy", i, checkWhere(u.Where)...)
		if u.Until != "" {
			add("usedBy", i, clause("until", u.Until))
		}
	}
	for _, kind := range k.WaitsFor {
		errs.Add(`"waitsFor": `, checkKinds([]string{string(kind)}))
	}
	if k.Node != nil {
		errs.Add(`"node": `, k.Node.check()...)
	}
	if p := k.Parent; p != nil {
		errs.Add(`"parent": `, text("kind", p.Kind), text("name", p.Name), checkGroup(p.Group),
			checkPlaceholders(p.Name), checkScope(p.Scope, ""), checkFields(p.Selectors...))
	}
	return errs
}

func (s Step) check() error {
	for _, p := range stepPlaceholder.FindAllString(s.Command, -1) {
		if p != "{type}" && p != "{namespace}" && p != "{name}" {
			return fmt.Errorf("%q: %s is no placeholder of a command: there are {type}, {namespace} and {name}", s.Command, p)
		}
	}
	return text("command", s.Command)
}

func (p Pause) check() error {
	given := 0
	for _, at := range []string{p.Annotation, p.Label, p.Field} {
		if at != "" {
			given++
		}
	}
	if given != 1 {
		return errors.New(`give exactly one of "annotation", "label" and "field"`)
	}
	return checkFields(p.Field)
}

func (d Decision) check() []error {
	var errs []error
	if (d.Annotation != "") == !d.Field.IsZero() {
		errs = append(errs, errors.New(`give exactly one of "annotation" and "field"`))
	}
	if d.Of != nil {
		errs = append(errs, d.Of.check()...)
	}
	return errs
}

func (n Need) check() []error {
	errs := link.Problems{checkScope(n.Scope, n.NamespaceField), checkGroup(n.Group), checkPlaceholders(n.Name),
		checkFields(n.GroupField, n.KindField, n.NameField, n.NamespaceField)}
	switch {
	case n.Kind == "" && n.KindField == "":
		errs = append(errs, errors.New(`give "kind", or "kindField" where a field says it`))
	case n.Name == "" && n.NameField == "":
		errs = append(errs, errors.New(`give "nameField", or "name" where it is always the same`))
	case !n.Items.IsZero() && n.NameField == "":
		errs = append(errs, errors.New(`"items" goes with "nameField"`))
	case n.Keys && (n.Items.IsZero() || n.NameField != "name" || n.KindField != "kind"):
		errs = append(errs, errors.New(`"keys" goes with "items", "nameField: name" and "kindField: kind"`))
	}
	if n.IfGone != "" {
		errs = append(errs, text("ifGone", n.IfGone))
	}
	errs = append(errs, checkWhere(n.Where)...)
	for i, of := range n.Needs {
		errs.Add(fmt.Sprintf(`"needs", number %d: `, i+1), of.check()...)
	}
	return errs
}

func checkWhere(where []link.Condition) []error {
	if len(where) == 0 {
		return nil
	}
	var errs link.Problems
	errs.Add(`"where": `, link.CheckAlternatives([][]link.Condition{where})...)
	return errs
}

// checkScope wants a field for the scope that needs one, and none otherwise.
func checkScope(scope Scope, namespaceField string) error {
	if (scope == ByField) != (namespaceField != "") {
		return fmt.Errorf(`"scope" is %q and "namespaceField" is %q: "namespaceField" goes with scope %q, and only with that`,
			scope, namespaceField, ByField)
	}
	return link.OneOf("scope", scope, scopes)
}

func checkGroup(group string) error {
	if strings.ContainsAny(group, "/* ") {
		return fmt.Errorf(`"group" is %q: write the group alone, or leave it out for the core`, group)
	}
	return checkPlaceholders(group)
}

func checkFields(paths ...string) error {
	for _, path := range paths {
		if path != "" && !fieldPath.MatchString(path) {
			return fmt.Errorf("%q is no path to a field: write it with dots, as spec.issuerRef.name", path)
		}
	}
	return nil
}
