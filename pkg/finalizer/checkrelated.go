package finalizer

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// fieldPath is a path to a field: names with dots between them.
var fieldPath = regexp.MustCompile(`^[a-z][A-Za-z0-9]*(\.[a-zA-Z0-9]+)*$`)

// checkRelated returns what is wrong with what an entry says beside the finalizer.
func (k *Known) checkRelated() []error {
	var errs []error
	add := func(key string, i int, all ...error) {
		for _, err := range all {
			if err != nil {
				errs = append(errs, fmt.Errorf("%q, number %d: %w", key, i+1, err))
			}
		}
	}
	for i, s := range k.Protect {
		add("protect", i, s.check(), clause("does", s.Does))
	}
	if err := checkPlaceholders(k.PVCs); err != nil {
		errs = append(errs, fmt.Errorf(`"claims": %w`, err))
	}
	for i, p := range k.PausedBy {
		add("pausedBy", i, p.check())
	}
	for _, err := range link.CheckAlternatives(k.Spares) {
		errs = append(errs, fmt.Errorf(`"spares", %w`, err))
	}
	for _, err := range link.CheckAlternatives(k.DeletesNothing) {
		errs = append(errs, fmt.Errorf(`"deletesNothing", %w`, err))
	}
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
		if err := checkKinds([]string{string(kind)}); err != nil {
			errs = append(errs, fmt.Errorf(`"waitsFor": %w`, err))
		}
	}
	if k.Node != nil {
		if err := k.Node.check(); err != nil {
			errs = append(errs, err)
		}
	}
	if p := k.Parent; p != nil {
		for _, err := range []error{text("kind", p.Kind), text("name", p.Name), checkGroup(p.Group),
			checkPlaceholders(p.Name), checkScope(p.Scope, ""),
			checkFields(p.Selectors...)} {
			if err != nil {
				errs = append(errs, fmt.Errorf(`"parent": %w`, err))
			}
		}
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
	errs := []error{checkScope(n.Scope, n.NamespaceField), checkGroup(n.Group), checkPlaceholders(n.Name),
		checkFields(n.GroupField, n.KindField, n.NameField, n.NamespaceField)}
	switch {
	case n.Kind == "" && n.KindField == "":
		errs = append(errs, errors.New(`give "kind", or "kindField" where a field says it`))
	case n.Name == "" && n.NameField == "":
		errs = append(errs, errors.New(`give "nameField", or "name" where it is always the same`))
	case !n.Items.IsZero() && n.NameField == "":
		errs = append(errs, errors.New(`"items" goes with "nameField"`))
	}
	if n.IfGone != "" {
		errs = append(errs, text("ifGone", n.IfGone))
	}
	errs = append(errs, checkWhere(n.Where)...)
	for i, of := range n.Needs {
		for _, err := range of.check() {
			if err != nil {
				errs = append(errs, fmt.Errorf(`"needs", number %d: %w`, i+1, err))
			}
		}
	}
	return errs
}

func checkWhere(where []link.Condition) []error {
	if len(where) == 0 {
		return nil
	}
	var errs []error
	for _, err := range link.CheckAlternatives([][]link.Condition{where}) {
		errs = append(errs, fmt.Errorf(`"where": %w`, err))
	}
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
