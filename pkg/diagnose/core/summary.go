package core

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// citation is a rule or a file of upstream that a meaning cites.
var citation = regexp.MustCompile(` \([A-Z]+-\d+[^)]*\)`)

// Means returns the meaning without the rules that it cites.
func (k Kind) Means() string { return citation.ReplaceAllString(k.Meaning, "") }

// Usual is the remedy: that of the finding, or that of its kind.
func (f Finding) Usual() string {
	return cmp.Or(f.Remedy, f.UsualOf(f.Code))
}

// UsualOf is the remedy of a kind of cause, with what the finding has for the words in braces.
func (f Finding) UsualOf(code Code) string {
	args := append(slices.Clone(f.Args), "{actor}", cmp.Or(f.Actor, "whoever removes it"), "{then}", "")
	remedy := strings.NewReplacer(args...).Replace(byCode[code].Remedy)
	if strings.HasPrefix(byCode[code].Remedy, "{") && !named(f.Actor) {
		return strings.ToUpper(remedy[:1]) + remedy[1:]
	}
	return remedy
}

// named reports whether a sentence can begin with an actor as it is written, because it is a name:
// cert-manager, kube-controller-manager.
func named(actor string) bool {
	article, _, _ := strings.Cut(actor, " ")
	return actor != "" && article != "the" && article != "a" && article != "an"
}

// summary says in a sentence what the cause is: that of its kind, with the actor's name where one
// removes the finalizer.
func (f Finding) summary() string {
	if f.Sentence != "" {
		return phrase.Sentence(f.Sentence)
	}
	kind := byCode[f.Code]
	means := kind.Means()
	if kind.Summary != "" {
		means = kind.Summary
	}
	switch {
	case f.Actor != "" && f.Code == FinalizerActorUnknown:
		means = "it is not known whether " + f.Actor + ", which must remove this finalizer, is alive"
	case f.Actor != "":
		for _, unnamed := range []string{"whoever removes the finalizer", "the controller that removes the finalizer"} {
			rest, first := strings.CutPrefix(means, unnamed)
			means = strings.Replace(means, unnamed, f.Actor+", which must remove this finalizer,", 1)
			if first && named(f.Actor) {
				return f.Actor + ", which must remove this finalizer," + rest + "."
			}
		}
	}
	return phrase.Sentence(means)
}
