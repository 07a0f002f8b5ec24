package link

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

var (
	forms      = []Form{Reference, Text, Manifest, Labels, Instances, Dependents}
	encodings  = []Encoding{Base64, Gzip, JSON}
	directions = []Direction{End, Source, Guard, Lead, Neither}
	policies   = []Policy{Background, Foreground, Orphan}
	waits      = []Waits{WaitsAlways, WaitsForeground, WaitsNever}
	verified   = []Verified{BySource, ByDocumentation}
	// keys are what a reference can say of an end.
	keys = []string{"apiVersion", "group", "kind", "namespace", "name", "uid"}
)

// Check returns what is wrong with a definition, each with what to do about it.
func (d *Definition) Check() []error {
	var errs Problems
	errs.Add("", required("id", d.ID), required("name", d.Name), OneOf("verified", d.Verified, verified))
	if strings.ContainsAny(d.Name, " \t\n") {
		errs.Add("", fmt.Errorf(`"name" is %q: write one word, it stands on each edge`, d.Name))
	}
	if !strings.HasPrefix(d.Source, "https://") {
		errs.Add("", fmt.Errorf(`"source" is %q: give the https:// address where it can be read`, d.Source))
	}
	errs.Add(`"from": `, d.From.check()...)
	if len(d.Ends) == 0 {
		errs.Add("", errors.New(`"ends" is empty: say where the object names the other ends`))
	}
	for i, e := range d.Ends {
		errs.Add(fmt.Sprintf(`"ends", number %d: `, i+1), e.check()...)
	}
	if d.Deletion.Of == Lead && slices.ContainsFunc(d.Ends, func(e Ends) bool { return e.Fields != "" }) {
		errs.Add("", errors.New(`"fields" is not for a deletion "of" lead`))
	}
	errs.Add(`"deletion": `, d.Deletion.check()...)
	errs.Add("", d.checkConfirmed()...)
	errs.Add("", d.checkGuard()...)
	for i, r := range d.Recreates {
		errs.Add(fmt.Sprintf(`"recreates", number %d: `, i+1), checkConditions(r.Where)...)
		if r.By == "" && d.Deletion.By == "" {
			errs.Add("", fmt.Errorf(`"recreates", number %d: "by" is missing: name the program that creates the end again`, i+1))
		}
		for _, e := range r.Needs {
			errs.Add(fmt.Sprintf(`"recreates", number %d, "needs": `, i+1), e.check()...)
			if !slices.Contains([]Form{Reference, Text}, e.Form) {
				errs.Add("", fmt.Errorf(`"recreates", number %d: "needs" names objects: use the forms reference and text`, i+1))
			}
		}
	}
	if d.Before && d.Deletion.Of != Neither && d.Deletion.Of != Source {
		errs.Add("", fmt.Errorf(
			`"before" is for a source that needs its ends: with a deletion "of" %s something else orders them`, d.Deletion.Of))
	}
	if len(d.Recreates) > 0 && d.OwnerSide() != Source {
		errs.Add("", fmt.Errorf(`"recreates" is for a source that stands above its ends: with a deletion "of" %s it does not`,
			d.Deletion.Of))
	}
	if d.OfDependents() && (len(d.Recreates) == 0 || d.Deletion.Of != Neither || d.OwnerSide() == End ||
		slices.ContainsFunc(d.Ends, func(e Ends) bool { return e.Form != Dependents })) {
		errs.Add("", errors.New(`"dependents" are the only form of a link "of" neither that says by "recreates" when they come back`))
	}
	if d.Owner != "" {
		errs.Add("", OneOf("owner", d.Owner, []Direction{Source, End}))
		if d.Deletion.Of != Neither {
			errs.Add("", fmt.Errorf(`"owner" is for a deletion "of" neither: with %q that says it`, d.Deletion.Of))
		}
	}
	return errs
}

// checkConfirmed says what is wrong with where an end names its source.
func (d *Definition) checkConfirmed() []error {
	var errs Problems
	if len(d.Confirmed) > 0 && (d.OwnerSide() == End || d.Deletion.Of == Lead) {
		errs.Add("", fmt.Errorf(`"confirmed" is for a source that stands above its ends: with a deletion "of" %s it does not`,
			d.Deletion.Of))
	}
	for i, e := range d.Confirmed {
		where := fmt.Sprintf(`"confirmed", number %d: `, i+1)
		if !slices.Contains([]Form{Reference, Text, Labels}, e.Form) || e.Fields != "" {
			errs.Add(where, errors.New(`"form" must be one of reference, text, labels, without "fields"`))
			continue
		}
		errs.Add(where, e.check()...)
	}
	return errs
}

// Problems are errors, each after a word on where it is.
type Problems []error

// Add adds those of some errors that are any.
func (p *Problems) Add(where string, errs ...error) {
	for _, err := range errs {
		if err != nil {
			*p = append(*p, fmt.Errorf("%s%w", where, err))
		}
	}
}

func (f From) check() []error {
	var errs []error
	if len(f.Kinds) == 0 && f.Category == "" {
		errs = append(errs, errors.New(`"kinds" is empty: list v1/Kind or group/Kind, or give a "category"`))
	}
	errs = append(errs, checkKinds(f.Kinds))
	if f.Anything() && len(f.Where) == 0 {
		errs = append(errs, errors.New(`"where" is empty: say which objects are meant when "kinds" has "*"`))
	}
	return append(errs, checkConditions(f.Where)...)
}

func checkKinds(kinds []graph.KindPattern) error {
	for _, kind := range kinds {
		if _, err := path.Match(string(kind), ""); kind != "*" &&
			(err != nil || strings.Count(string(kind), "/") != 1 || strings.ContainsAny(string(kind), " ,")) {
			return fmt.Errorf(`"kinds" has %q: write v1/Kind, group/Kind, group/*, or "*" for all`, kind)
		}
	}
	return nil
}

func checkConditions(conditions []Condition) []error {
	var errs []error
	for i, c := range conditions {
		given := 0
		for _, is := range []bool{c.Annotation != "", c.Label != "", !c.Field.IsZero()} {
			if is {
				given++
			}
		}
		if given != 1 {
			errs = append(errs, fmt.Errorf(`condition %d: give exactly one of "annotation", "label" and "field"`, i+1))
		}
		if c.Value != "" && c.Has != "" {
			errs = append(errs, fmt.Errorf(`condition %d: give "value" or "has"`, i+1))
		}
		if c.AnyCase && c.Value == "" {
			errs = append(errs, fmt.Errorf(`condition %d: "anyCase" is of a "value"`, i+1))
		}
		if c.Empty && (c.Not || c.Has != "") {
			errs = append(errs, fmt.Errorf(`condition %d: leave out "empty" with "not" and "has"`, i+1))
		}
	}
	return errs
}

// checkForeground says what is wrong with the value that the field of the policy is set to.
func (d Deletion) checkForeground() error {
	if d.Foreground == "" {
		return nil
	}
	if _, ok := d.PolicyField.Pointer(); !ok || d.PolicyField.IsZero() {
		return errors.New(`"foreground" is for a "policyField" that is one field`)
	}
	if Policy(strings.ToLower(d.Foreground)) != Foreground {
		return fmt.Errorf(`"foreground" is %q: write how the field has foreground`, d.Foreground)
	}
	return nil
}

func (e Ends) check() []error {
	errs := []error{OneOf("form", e.Form, forms), checkKinds(e.Kinds)}
	errs = append(errs, checkPlaceholders("namespace", string(e.Namespace)))
	if strings.ContainsAny(placeholder.ReplaceAllString(string(e.Namespace), "x"), "{}/ ") {
		errs = append(
			errs, fmt.Errorf(
				`"namespace" is %q: write source, any, or a name, in which {a path} stands for what the source has there`,
				e.Namespace))
	}
	for _, encoding := range e.Decode {
		errs = append(errs, OneOf("decode", encoding, encodings))
	}
	errs = append(errs, e.checkKind())
	for _, key := range slices.Sorted(maps.Keys(e.Keys)) {
		if !slices.Contains(keys, key) {
			errs = append(errs, fmt.Errorf(`"keys" has %q: there are %s`, key, strings.Join(keys, ", ")))
		}
	}
	errs = append(errs, checkConditions(e.Where)...)
	if len(e.Where) > 0 && e.Form != Reference {
		errs = append(errs, errors.New(`"where" is for the form "reference"`))
	}
	if e.Category != "" && e.Form != Reference && e.Form != Instances {
		errs = append(errs, errors.New(`"category" is for the forms "reference" and "instances"`))
	}
	if e.Form == Labels {
		return append(errs, e.checkLabels())
	}
	if e.Form == Dependents {
		return append(errs, e.checkDependents())
	}
	if e.Labels != "" || e.Namespace == AnyNamespace {
		errs = append(errs, errors.New(`"labels" and namespace "any" are for the form "labels"`))
	}
	if e.Name != "" || e.Fields != "" {
		errs = append(errs, errors.New(`"name" and "fields" are for the form "labels"`))
	}
	if len(e.Kinds) > 0 && e.Form != Reference {
		errs = append(errs, errors.New(`"kinds" is for the forms "labels" and "reference"`))
	}
	if e.Field.IsZero() && (e.Form != Reference || e.Keys["name"].IsZero()) {
		errs = append(errs, errors.New(`"field" is missing: say where the ends are named`))
	}
	return append(errs, e.checkMatch())
}

// checkKind says what is wrong with the kind of the ends. That of a reference can have the group of
// its apiVersion.
func (e Ends) checkKind() error {
	kind := string(e.Kind)
	if e.Form == Reference {
		kind = strings.TrimPrefix(kind, anyGroup+"/")
		if kind != string(e.Kind) {
			kind = "v1/" + kind
		}
	}
	if e.Form == Instances && kind == anyKind {
		return nil
	}
	if kind != "" && (strings.Count(kind, "/") != 1 || strings.ContainsAny(kind, "*?[ ,")) {
		return fmt.Errorf(`"kind" is %q: write v1/Kind or group/Kind`, e.Kind)
	}
	return nil
}

func (e Ends) checkMatch() error {
	if e.Form != Text {
		if e.Match != "" || len(e.Replace) > 0 {
			return errors.New(`"match" and "replace" are for the form "text"`)
		}
		return nil
	}
	if e.Match == "" {
		if e.Kind == "" {
			return errors.New(`"kind" is missing: a name alone does not say of what`)
		}
		return nil
	}
	if !strings.HasPrefix(e.Match, "^") || !strings.HasSuffix(e.Match, "$") {
		return fmt.Errorf(`"match" is %q: begin it with ^ and end it with $, it is about the whole text`, e.Match)
	}
	expression, err := regexp.Compile(e.Match)
	if err != nil {
		return fmt.Errorf(`"match" is no regular expression: %w`, err)
	}
	for _, group := range expression.SubexpNames() {
		if group != "" && !slices.Contains(keys, group) {
			return fmt.Errorf(`"match" has the group %q: there are %s`, group, strings.Join(keys, ", "))
		}
	}
	if expression.SubexpIndex("name") < 0 || expression.SubexpIndex("kind") < 0 && e.Kind == "" {
		return errors.New(`"match" has to have the group "name", and "kind" if "kind" is not given`)
	}
	return nil
}

func (e Ends) checkLabels() error {
	if e.Labels == "" && e.Fields == "" || len(e.Kinds) == 0 {
		return errors.New(`give "labels" or "fields", and the "kinds" of what has them`)
	}
	if err := errors.Join(checkPlaceholders("labels", e.Labels), checkPlaceholders("name", e.Name),
		checkPlaceholders("fields", e.Fields)); err != nil {
		return err
	}
	if _, err := fields.ParseSelector(placeholder.ReplaceAllString(e.Fields, "x")); err != nil {
		return fmt.Errorf(`"fields" is no field selector: %w`, err)
	}
	if _, err := labels.Parse(placeholder.ReplaceAllString(e.Labels, "x")); err != nil {
		return fmt.Errorf(`"labels" is no label selector: %w`, err)
	}
	return nil
}

func (e Ends) checkDependents() error {
	if len(e.Kinds) == 0 || !e.Field.IsZero() || e.Kind != "" || e.Name != "" || e.Labels+e.Fields != "" ||
		e.Namespace != "" {
		return errors.New(`give the "kinds" of dependents, and nothing else`)
	}
	return checkKinds(e.Kinds)
}

func (d Deletion) check() []error {
	errs := []error{OneOf("of", d.Of, directions)}
	if d.Of == Neither || d.Of == Guard || d.Of == Lead {
		if d.Policy != "" || d.Finalizer != "" || d.Waits != "" || !d.PolicyField.IsZero() || d.Turn != 0 ||
			len(d.Keep)+len(d.Never) > 0 || d.Fails != nil || d.Annotation != "" || d.Force || d.Within.Duration != 0 || !d.As.IsZero() || d.Waves != "" || d.Permits != nil {
			errs = append(errs, fmt.Errorf(`"of" is %q: leave out what says how a deletion travels`, d.Of))
		}
		return errs
	}
	errs = append(errs, required("by", d.By), OneOf("policy", d.Policy, policies), OneOf("waits", d.Waits, waits),
		d.checkForeground())
	if d.Annotation != "" && d.Of != End {
		errs = append(errs, errors.New(`"annotation" is of an end that goes: write "of" end`))
	}
	if !d.As.IsZero() && (d.Of != End || d.Finalizer == "") {
		errs = append(errs, errors.New(`"as" is of ends that go, and of a "finalizer" that stays with them`))
	}
	if f := d.Fails; f != nil {
		errs = append(errs, checkConditions(f.Where)...)
		if len(f.Where) == 0 || f.Because == "" || d.Of != End || d.Finalizer == "" {
			errs = append(errs, errors.New(`"fails" is of ends that go, and of a "finalizer" that stays with them: write "where" and "because"`))
		}
	}
	if p := d.Permits; p != nil && (p.Kind == "" || p.NameField.IsZero() && p.Name == "" ||
		p.Places != nil && p.Places.List.IsZero()) {
		errs = append(errs, errors.New(`"permits" lacks "kind", or "nameField" and "name", or "list" of "places"`))
	}
	if d.Finalizer == "*" {
		errs = append(errs, errors.New(`"finalizer" is "*": write how it begins`))
	}
	for i, all := range d.Never {
		if len(all) == 0 {
			errs = append(errs, fmt.Errorf(`"never", number %d, is empty: list conditions`, i+1))
		}
		errs = append(errs, checkConditions(all)...)
	}
	conditions := make([]Condition, len(d.Keep))
	for i, k := range d.Keep {
		conditions[i] = k.Condition
		errs = append(append(errs, checkPlaceholders("value", k.Value)), checkConditions(k.Where)...)
	}
	return append(errs, checkConditions(conditions)...)
}

func required(key, value string) error {
	if value == "" {
		return fmt.Errorf("%q is missing", key)
	}
	return nil
}

// OneOf is what is wrong with a value that is none of some words.
func OneOf[T ~string](key string, value T, all []T) error {
	if slices.Contains(all, value) {
		return nil
	}
	words := phrase.Words(all, func(a T) string { return string(a) })
	return fmt.Errorf("%q is %q: it must be one of %s", key, value, strings.Join(words, ", "))
}
