package core

import (
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// citation is a rule or a file of upstream that a meaning cites.
var citation = regexp.MustCompile(` \([A-Z]+-\d+[^)]*\)`)

// Means returns the meaning without the rules that it cites.
func (k Kind) Means() string { return citation.ReplaceAllString(k.Meaning, "") }

// summary says in a sentence what the cause is: that of its kind, with the actor's name where one removes the finalizer.
func (f Finding) summary() string {
	kind := byCode[f.Code]
	means := kind.Means()
	if kind.Summary != "" {
		means = kind.Summary
	}
	switch {
	case f.Actor != "" && f.Code == FinalizerActorUnknown:
		means = "it is not known whether " + f.Actor + ", which removes the finalizer, is alive"
	case f.Actor != "":
		means = strings.Replace(means, "whoever removes the finalizer", f.Actor+", which removes the finalizer,", 1)
	}
	return phrase.Sentence(means)
}
