// Package stuck rebuilds stuck deletions from public threads as scripts. Each begins with a header
// that says where it comes from, what the real answer was, and what would have been harmful.
// docs/stuck.md is made of the headers.
package stuck

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Case is the header of a script.
type Case struct {
	// File is the script's path below the folder of scripts.
	File string
	// Title says what is stuck and why, in a few words; Source is the address of the thread.
	Title, Source string
	// Symptom is what was seen, Answer what the thread's real answer was, and Harmful what would
	// have been harmful, in sentences.
	Symptom, Answer, Harmful string
	// Verdict is how good the first answer of kubectl gc was, before anything was changed for the
	// sake of this case; Because says why.
	Verdict Verdict
	Because string
}

// Verdict is how good an answer was.
type Verdict string

// The verdicts.
const (
	Right  Verdict = "right"
	Partly Verdict = "partly"
	Wrong  Verdict = "wrong"
)

// keys are those of a header, in their order.
var keys = []string{"Title", "Source", "Symptom", "Answer", "Harmful", "First run"}

// Cases reads the headers of all scripts in a folder, in the order of their titles. Each must be
// whole, and no thread may be used twice.
func Cases(scripts fs.FS) ([]Case, error) {
	var all []Case
	var errs []error
	used := map[string]string{}
	err := fs.WalkDir(scripts, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".txtar") {
			return err
		}
		text, err := fs.ReadFile(scripts, path)
		if err != nil {
			return err
		}
		c, err := Parse(string(text))
		c.File = path
		switch other := used[c.Source]; {
		case err != nil:
			errs = append(errs, fmt.Errorf("reading the header of %s: %w", path, err))
		case other != "":
			errs = append(errs, fmt.Errorf("%s has the source of %s: %s", path, other, c.Source))
		}
		used[c.Source] = path
		all = append(all, c)
		return nil
	})
	slices.SortFunc(all, func(a, b Case) int { return strings.Compare(a.Title, b.Title) })
	return all, errors.Join(append(errs, err)...)
}

// Parse reads the header of a script: comments of the form "# Key: text", each key once, in order,
// from the first line on. A comment without a key goes on with the text before it.
func Parse(script string) (Case, error) {
	var order []string
	fields := map[string]string{}
	for line := range strings.Lines(script) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !ok {
			break
		}
		key, text, ok := strings.Cut(comment, ":")
		switch {
		case ok && slices.Contains(keys, key):
			order = append(order, key)
			fields[key] = strings.TrimSpace(text)
		case len(order) == 0:
			return Case{}, fmt.Errorf("the first line must begin with \"# %s: \"", keys[0])
		default:
			fields[order[len(order)-1]] += " " + strings.TrimSpace(comment)
		}
	}
	if !slices.Equal(order, keys) {
		return Case{}, fmt.Errorf("it has the keys %q and must have %q", order, keys)
	}
	for key := range maps.Keys(fields) {
		if fields[key] == "" {
			return Case{}, fmt.Errorf("%s is empty", key)
		}
	}
	verdict, because, ok := strings.Cut(fields["First run"], ": ")
	c := Case{
		Title: fields["Title"], Source: fields["Source"], Symptom: fields["Symptom"], Answer: fields["Answer"],
		Harmful: fields["Harmful"],
		Verdict: Verdict(verdict), Because: because,
	}
	if !ok || !slices.Contains([]Verdict{Right, Partly, Wrong}, c.Verdict) {
		return Case{}, fmt.Errorf("the first run is %q and must be %s, %s or %s, a colon, and why", fields["First run"],
			Right, Partly, Wrong)
	}
	if !strings.HasPrefix(c.Source, "https://") {
		return Case{}, fmt.Errorf("the source %q is no https address", c.Source)
	}
	return c, nil
}
