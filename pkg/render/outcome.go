package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// word says in a word what becomes of an object.
type word uint8

const (
	untouched word = iota
	deleted
	destroyed // a volume, with its disk
	unblocked
	kept
	orphaned
	protected
	deadlocked
	stuck
	forbidden
	terminating // being deleted already
	absent      // what a reference names and does not exist
	unknown     // what a reference names and could not be looked at
)

// String is the word; empty for what is not touched.
func (w word) String() string {
	return [...]string{"", "deleted", "destroyed", "unblocked", "kept", "orphaned", "protected", "deadlocked", "stuck",
		"forbidden", "terminating", "absent", "unknown"}[w]
}

func (w word) paint(p Palette) string {
	switch w {
	case untouched:
		return "-"
	case kept, orphaned, absent, unblocked:
		return paint(p.kind, w.String())
	case destroyed, deadlocked, stuck, protected, forbidden:
		return paint(p.bad, w.String())
	}
	return paint(p.warn, w.String())
}

// fate is what becomes of an object, and when: from the wave in which that begins to the last one
// in which something is done to it.
type fate struct {
	wave, last int
	word       word
}

// waves are both, once if they are one; empty if nothing is done to the object.
func (f fate) waves() string {
	switch {
	case f.wave == 0:
		return ""
	case f.last > f.wave:
		return fmt.Sprintf("%d-%d", f.wave, f.last)
	}
	return strconv.Itoa(f.wave)
}

// outcome is what becomes of an object, and why.
type outcome struct {
	fate
	stage   int // of an ordered deletion
	policy  plan.Policy
	because string
	heldBy  string
}

// outcomes are by object.
type outcomes map[graph.ID]outcome

// outcomes returns what becomes of each object that the plan touches.
func (p Plan) outcomes() outcomes {
	out := make(outcomes, len(p.Deleted))
	p.judge(func(id graph.ID) outcome { return out[id] }, func(id graph.ID, to outcome) { out[id] = to }, p.Because)
	for _, b := range p.Blockers {
		o := out[b.Object]
		o.heldBy = p.holder(b)
		out[b.Object] = o
	}
	for _, r := range p.Blocked {
		if o := out[r.Object]; o.heldBy == "" {
			o.heldBy = p.until(p.Awaited(r.Object), KindName)
			out[r.Object] = o
		}
	}
	return out
}

// fates returns what becomes of each object of the graph, by its ID, for a plan that is counted: the
// sentences that say why would take more memory than the graph.
func (p Plan) fates() []fate {
	out := make([]fate, p.Graph.Len())
	p.judge(func(id graph.ID) outcome { return outcome{fate: out[id]} },
		func(id graph.ID, to outcome) { out[id] = to.fate }, func(graph.ID, plan.Reason) string { return "" })
	return out
}

// judge sets what becomes of each object that the plan touches; of returns what was set before, and
// sentence says why.
func (p Plan) judge(of func(graph.ID) outcome, set func(graph.ID, outcome),
	sentence func(graph.ID, plan.Reason) string) {
	for _, a := range p.Actions {
		o := of(a.Object)
		o.last = a.Wave
		switch {
		case a.Verb == plan.VerbDelete:
			o.fate = fate{a.Wave, a.Wave, deleted}
			o.stage, o.policy, o.because = a.Stage, a.Policy, sentence(a.Object, a.Because)
		case o.word != untouched:
		case a.Verb == plan.VerbOrphan:
			o.wave = a.Wave
		case a.Verb == plan.VerbUnblock:
			o.fate, o.because = fate{a.Wave, a.Wave, unblocked}, sentence(a.Object, a.Because)
		case a.Verb == plan.VerbRemoveFinalizer: // of an owner that was being deleted before
			o.fate, o.because = fate{a.Wave, a.Wave, deleted}, sentence(a.Object, a.Because)
		}
		set(a.Object, o)
	}
	say := func(id graph.ID, w word, because string) {
		o := of(id)
		o.word, o.because = w, because
		set(id, o)
	}
	all := func(list []plan.ObjectReason, as func(plan.Reason) word) {
		for _, s := range list {
			say(s.Object, as(s.Because), sentence(s.Object, s.Because))
		}
	}
	always := func(w word) func(plan.Reason) word { return func(plan.Reason) word { return w } }
	all(p.Kept, func(r plan.Reason) word {
		if r.Code == plan.OwnerOrphans {
			return orphaned
		}
		return kept
	})
	for _, r := range p.protected() {
		id, _ := p.Graph.Lookup(r.Object.UID)
		say(id, protected, "the server refuses its deletion: "+Escape(phrase.Shorten(r.Message)))
	}
	for _, d := range p.Denied {
		say(d.Object, protected, "policy "+Escape(d.Policy)+" denies its deletion")
	}
	all(p.Deadlocked, always(deadlocked))
	all(p.Stuck(), always(stuck))
	for _, id := range p.Unsettled {
		if o := of(id); o.word != deadlocked && o.word != stuck { // of which the summary says what to do
			say(id, o.word, strings.TrimPrefix(o.because+"; it depends on the collector's timing", "; "))
		}
	}
	p.judgeDisks(of, say)
	for _, f := range p.Forbidden {
		say(f.Object, forbidden, "you may not "+f.Verb+" it")
	}
}

// unobserved is the word for a node that was not listed.
func unobserved(s graph.State) word {
	if s == graph.Absent {
		return absent
	}
	return unknown
}

// Because words why something is done to an object of the plan, or is not.
func (p Plan) Because(id graph.ID, r plan.Reason) string {
	if f, ok := p.Link(id, r); ok {
		return linkReason(p.Graph, f, r) + p.onceGone(f, r)
	}
	switch r.Code {
	case plan.NotPruned:
		return Escape(p.Left(id))
	case plan.OwnersGone:
		return r.Sentence(p.Graph, id) + p.once(r)
	case plan.ForegroundCycle:
		for _, cycle := range p.Cycles {
			if slices.Contains(cycle, id) {
				return "foreground cycle " + p.cycle(cycle) + endless
			}
		}
	}
	return r.Sentence(p.Graph, id)
}

// once says what has to happen before the owner is gone that is the cause (GC-046).
func (p Plan) once(r plan.Reason) string {
	if !r.HasCause {
		return ""
	}
	b, ok := p.Blocker(r.Cause)
	switch {
	case !ok:
		return ""
	case len(b.Finalizers) > 0:
		return ", once " + Escape(strings.Join(b.Finalizers, ", ")) + " is removed"
	}
	return ", once it has terminated"
}

// onceGone says what has to be gone before a program deletes an object.
func (p Plan) onceGone(f link.Found, r plan.Reason) string {
	if first, ok := p.Once(f); ok && r.Code == plan.LinkDeleted {
		return ", once " + located(p.Graph, first) + " is gone"
	}
	return ""
}

// endless is what there is to say of a cycle, and what to do about it.
const endless = ": the deletion cannot complete until blockOwnerDeletion is false in one of their references"

// briefReason shortens a reason to so many columns. Where it would lose what becomes of the owner,
// the namespace or the CRD that it names, as in "its owner Deployment/web is…", it leaves out the
// name, which the tree shows: "its owner is gone".
func briefReason(because string, to int) string {
	short := brief(because, to)
	for _, of := range []string{"its owner", "its namespace", "its CRD"} {
		for _, what := range []string{" is gone", " is deleted", " stays", " waits for it"} {
			i := strings.Index(because, what)
			if i > 0 && strings.HasPrefix(because, of+" ") && !strings.Contains(short, what) {
				return brief(of+because[i:], to)
			}
		}
	}
	return short
}

// maxMembers is how many members of a cycle are named.
const maxMembers = 6

// cycle names the members of a cycle, each of which waits for the next.
func (p Plan) cycle(members []graph.ID) string {
	var names []string
	for i, id := range members {
		if i == maxMembers {
			names = append(names, fmt.Sprintf("%d more", len(members)-i))
			break
		}
		names = append(names, KindName(p.Graph.Ref(id)))
	}
	return strings.Join(append(names, names[0]), " -> ")
}

// WaitsFor says what has to happen for an object to go.
func (p Plan) WaitsFor(b plan.Blocker) string {
	var parts []string
	if len(b.Finalizers) > 0 {
		parts = append(parts, p.heldBy(b))
	}
	for _, c := range p.Confirmations {
		if c.Object.UID == p.Graph.Ref(b.Object).UID {
			parts = append(parts, c.Waits)
		}
	}
	if until := p.until(p.Until(b.Object), refLocated); until != "" {
		parts = append(parts, until)
	}
	if b.GracePeriodSeconds > 0 {
		parts = append(parts, fmt.Sprintf("the kubelet terminates it within %d s", b.GracePeriodSeconds))
	}
	return strings.Join(parts, "; ")
}

// holder is the same in the few words of a table's cell.
func (p Plan) holder(b plan.Blocker) string {
	parts := make([]string, 0, len(b.Finalizers)+2)
	for _, f := range b.Finalizers {
		parts = append(parts, Escape(f))
	}
	if b.GracePeriodSeconds > 0 {
		parts = append(parts, fmt.Sprintf("grace %d s", b.GracePeriodSeconds))
	}
	if until := p.until(p.Until(b.Object), KindName); until != "" {
		return strings.Join(parts, ",") + " " + until
	}
	return strings.Join(parts, ",")
}
