package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// wayWords say in the table how a finalizer comes off.
var wayWords = map[unfinalize.Way]string{
	unfinalize.ByPatch: "comes off", unfinalize.ByOrphaning: "orphaned, then off", unfinalize.ByPolicy: "off, by policy",
	unfinalize.ByFinalizing: "finalized", unfinalize.ByDelete: "deleted again",
}

// refusalWords say in the table why one does not.
var refusalWords = map[unfinalize.Code]string{
	unfinalize.NotThere: "not there", unfinalize.NothingHeld: "nothing to do", unfinalize.NotDeleting: "not deleting", unfinalize.ActorAlive: "alive",
	unfinalize.ActorNotFound: "actor not found", unfinalize.ActorUnknown: "actor unknown", unfinalize.ActorOutside: "actor outside",
	unfinalize.DataLoss: "data loss", unfinalize.BreaksCluster: "breaks cluster", unfinalize.NotEmpty: "not empty", unfinalize.NotProvenEmpty: "not proven empty",
	unfinalize.HiddenDependents: "hidden dependents", unfinalize.Forbidden: "forbidden", unfinalize.ServerRefuses: "server",
}

// verdictWords are a verdict in a few words.
func verdictWords(against []unfinalize.Refusal, way unfinalize.Way) string {
	if len(against) == 0 {
		return wayWords[way]
	}
	var words []string
	for _, r := range against {
		if word := refusalWords[r.Code]; !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return "refused: " + strings.Join(words, ", ")
}

// rowsOf are the rows of the table of verdicts, numbered from 1 if they are to be chosen from.
func rowsOf(cases []*unfinalize.Case, terms unfinalize.Terms, number bool) []render.Verdict {
	var rows []render.Verdict
	for _, c := range cases {
		for _, v := range c.Verdicts {
			against := v.Against(terms)
			row := render.Verdict{
				Object: c.Ref, Finalizer: v.Name, Who: v.Actor.Who, Life: strings.ToLower(string(v.Actor.Life)),
				Verdict: verdictWords(against, v.Way), Refused: len(against) > 0,
			}
			if number {
				row.Number = len(rows) + 1
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// explanations say what is known of the finalizers, and what speaks against taking them off: the same thing of several objects once.
func explanations(cases []*unfinalize.Case, terms unfinalize.Terms) []string {
	var lines []string
	told := map[string]bool{}
	for _, c := range cases {
		for _, v := range c.Verdicts {
			about := strings.Join(explain(c, v, terms), "\n")
			if about == "" || told[about] {
				continue
			}
			told[about] = true
			lines = append(lines, strings.Split(about, "\n")...)
		}
	}
	return lines
}

// explain says what is known of one finalizer, in lines of which all but the first are indented.
func explain(c *unfinalize.Case, v unfinalize.Verdict, terms unfinalize.Terms) []string {
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
		if k := v.Actor.Known; v.Actor.IsKnown && v.Way == unfinalize.ByPatch && v.Note == "" && !saysBefore(v) {
			add(k.Before)
		}
	}
	add(v.Note)
	if n := len(c.Dependents); v.Way == unfinalize.ByOrphaning && n > 0 {
		add(fmt.Sprintf("the references to it come off %s first", countWords(n, "dependent")))
	}
	against := v.Against(terms)
	for _, r := range v.Refusals {
		word := "refused"
		switch {
		case slices.Contains(against, r):
		case r.Override == unfinalize.WithForce && !terms.Force:
			word = "you are asked about this"
		default:
			word = "in spite of this (" + string(r.Override) + ")"
		}
		line := word + ": " + r.Because
		switch r.Code { // what stands above is not said again
		case unfinalize.DataLoss, unfinalize.BreaksCluster:
			line, _, _ = strings.Cut(line, ": "+v.Actor.Known.OnRemoval())
		case unfinalize.ActorAlive:
			line = word + ": it would work if you wait"
		case unfinalize.ActorNotFound, unfinalize.ActorUnknown, unfinalize.ActorOutside:
			line = strings.TrimSuffix(line, "; "+removalSentence(v))
		}
		if v.Field == "" {
			line = word + ": " + shortName(c.Ref) + ": " + r.Because // nothing above says which
		}
		if r.Hint != "" && word == "refused" {
			line += "; " + strings.TrimSuffix(r.Hint, ".")
		}
		add(line)
	}
	for i := range lines {
		lines[i] = render.Escape(lines[i])
	}
	return lines
}

// saysBefore says whether a refusal has the advice of the pack already.
func saysBefore(v unfinalize.Verdict) bool {
	return slices.ContainsFunc(v.Refusals, func(r unfinalize.Refusal) bool { return r.Hint == v.Actor.Known.Before })
}

// lifeSentence says who takes a finalizer off and whether that is alive.
func lifeSentence(a actor.Actor) string {
	who := a.Who
	if who == "" {
		who = "who takes it off is not known"
	} else {
		who += map[actor.Life]string{
			actor.Alive: " takes it off, and is alive", actor.Dead: " takes it off, and is dead",
		}[a.Life]
		if a.Life != actor.Alive && a.Life != actor.Dead {
			who += " takes it off; whether it is alive is not known"
		}
	}
	if len(a.Says()) > 0 {
		who += " (" + strings.Join(a.Says(), "; ") + ")"
	}
	return who
}

// removalSentence says what happens if the finalizer comes off this way.
func removalSentence(v unfinalize.Verdict) string {
	switch {
	case v.Way == unfinalize.ByOrphaning:
		return "what it stands for is completed: its dependents are orphaned before it comes off"
	case v.Way == unfinalize.ByPolicy, v.Way == unfinalize.ByPatch && v.Note != "":
		return "its deletion goes on in the background: it does not wait for its dependents, which are collected after it"
	case v.Way == unfinalize.ByFinalizing && len(v.Refusals) == 0:
		return "nothing is left in the namespace, so it can go"
	case v.Actor.IsKnown:
		return v.Actor.Known.OnRemoval()
	}
	return "what is skipped by removing it is not known"
}

// strandedLines name what is left in namespaces, which is lost with those that are finalized all the same.
func strandedLines(cases []*unfinalize.Case, terms unfinalize.Terms) []string {
	var lines []string
	for _, c := range cases {
		e := c.Stranded()
		if e == nil || e.Proven() {
			continue
		}
		head := "left in namespace %s:"
		if !c.Refused(terms) {
			head = "stranded in namespace %s, out of reach until a namespace of that name is made again:"
		}
		lines = append(lines, fmt.Sprintf(head, render.Escape(c.Ref.Name)))
		for _, r := range e.Left {
			lines = append(lines, "  "+render.Escape(kindOf(r)+"/"+r.Name))
		}
		for _, g := range e.Gaps {
			lines = append(lines, fmt.Sprintf("  whatever there is of %s, which could not be listed: %s", render.Escape(typeName(g)), render.Escape(shorten(g.Message))))
		}
	}
	return lines
}

// planSummary counts what would be done.
func planSummary(cases []*unfinalize.Case, terms unfinalize.Terms) string {
	finalizers, objects, refused, again := 0, 0, 0, 0
	for _, c := range cases {
		if c.Refused(terms) {
			refused++
			continue
		}
		objects++
		for _, v := range c.Verdicts {
			if v.Way == unfinalize.ByDelete {
				again++
			} else {
				finalizers++
			}
		}
	}
	var parts []string
	if finalizers > 0 {
		parts = append(parts, fmt.Sprintf("takes %s off %s", countWords(finalizers, "finalizer"), countWords(objects-again, "object")))
	}
	if again > 0 {
		parts = append(parts, fmt.Sprintf("deletes %s again", countWords(again, "object")))
	}
	if refused > 0 {
		parts = append(parts, "refuses "+countWords(refused, "object"))
	}
	return strings.Join(parts, "; ")
}
