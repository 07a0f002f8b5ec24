package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// explanations say what is known of the finalizers, and what speaks against removing them: the same
// thing of several objects once.
func explanations(p *unfinalize.Planned) []string {
	var lines []string
	told := map[string]bool{}
	for _, r := range p.Rows() {
		about := strings.Join(explainFinalizer(r.Candidate, r.Assessment, p.Overrides), "\n")
		if about == "" || told[about] {
			continue
		}
		told[about] = true
		lines = append(lines, strings.Split(about, "\n")...)
	}
	return lines
}

// explainFinalizer says what is known of one finalizer, in lines of which all but the first are
// indented.
func explainFinalizer(c *unfinalize.Candidate, v unfinalize.Assessment, overrides unfinalize.Overrides) []string {
	var lines []string
	add := func(text string) {
		if text != "" {
			lines = append(lines, "  "+text)
		}
	}
	if v.Name != "" && v.Field != "" {
		lines = append(lines, v.Name+": "+lifeSentence(v.Actor))
		add(removalSentence(v))
		if k := v.Actor.Known; v.Actor.IsKnown && v.Actor.Life != actor.Alive {
			add("if it runs again: " + k.OnCompletion())
		}
		if k := v.Actor.Known; v.Actor.IsKnown && v.Method == unfinalize.ByPatch && v.Note == "" && !saysBefore(v) {
			add(k.Before)
		}
	}
	add(v.Note)
	if n := len(c.Dependents); v.Method == unfinalize.ByOrphaning && n > 0 {
		add(fmt.Sprintf("the references to it are removed from %s first", phrase.Count(n, "dependent")))
	}
	against := v.Against(overrides)
	for _, r := range v.Refusals {
		word := "refused"
		switch {
		case r.Asks() && !overrides.Force:
			word = "needs confirmation"
		case slices.Contains(against, r):
		default:
			word = "despite this (" + string(r.Override) + ")"
		}
		line := word + ": " + r.Because
		switch r.Code { // what stands above is not said again
		case unfinalize.DataLoss, unfinalize.BreaksCluster:
			line, _, _ = strings.Cut(line, ": "+v.Actor.Known.OnRemoval())
		case unfinalize.ActorAlive:
			line = word + ": it is running and is expected to remove it"
		case unfinalize.ActorNotFound, unfinalize.ActorUnknown, unfinalize.ActorOutside:
			line = strings.TrimSuffix(line, "; "+removalSentence(v))
		}
		if v.Field == "" {
			line = word + ": " + KindName(c.Ref) + ": " + r.Because // nothing above says which
		}
		if r.Hint != "" && word == "refused" {
			line += "; " + strings.TrimSuffix(r.Hint, ".")
		}
		add(line)
	}
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	return lines
}

// saysBefore says whether a refusal has the advice of the pack already.
func saysBefore(v unfinalize.Assessment) bool {
	return slices.ContainsFunc(v.Refusals, func(r unfinalize.Refusal) bool { return r.Hint == v.Actor.Known.Before })
}
