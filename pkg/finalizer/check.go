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
)

// check returns what is wrong with an entry, and compiles its regular expression.
func (k *Known) check() []error {
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	add(text("id", k.ID))
	add(k.checkForm())
	add(checkKinds(k.Kinds))
	add(link.OneOf("field", k.Field, fields))
	add(text("component", k.Component))
	add(clause("does", k.Does))
	add(clause("ifRemoved", k.IfRemoved))
	add(link.OneOf("risk", k.Risk, risks))
	add(link.OneOf("polarity", k.Polarity, polarities))
	add(link.OneOf("verified", k.Verified, verified))
	for _, optional := range []struct{ key, value string }{{"actor", k.Actor}, {"before", k.Before}, {"knob", k.Knob},
		{"note", k.Note}} {
		if optional.value != "" {
			add(text(optional.key, optional.value))
		}
	}
	if !strings.HasPrefix(k.Source, "https://") {
		add(fmt.Errorf(`"source" is %q: give the https:// address where it can be read`, k.Source))
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
	ids, links, pruners, claims := map[string]string{}, map[string]string{}, map[string]string{}, map[claim]string{}
	var errs []error
	for _, pack := range packs {
		for _, d := range pack.Links {
			if other, twice := links[d.ID]; twice && d.ID != "" {
				errs = append(errs, fmt.Errorf("%s: link %q: %s has a link of that id: give it another", pack.File, d.ID, other))
			}
			links[d.ID] = pack.File
		}
		for _, p := range pack.Pruners {
			if other, twice := pruners[p.ID]; twice && p.ID != "" {
				errs = append(errs, fmt.Errorf("%s: pruner %q: %s has a pruner of that id: give it another", pack.File, p.ID, other))
			}
			pruners[p.ID] = pack.File
		}
		for _, k := range pack.Finalizers {
			if other, twice := ids[k.ID]; twice && k.ID != "" {
				errs = append(errs, fmt.Errorf("%s: entry %q: %s has an entry of that id: give it another", pack.File, k.ID, other))
			}
			ids[k.ID] = pack.File
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
