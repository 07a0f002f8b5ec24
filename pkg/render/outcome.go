package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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
	p.judge(out, p.Because)
	for _, b := range p.Blockers {
		o := out[b.Object]
		o.heldBy = p.holder(b)
		out[b.Object] = o
	}
	return out
}

func (o outcomes) of(id graph.ID) outcome      { return o[id] }
func (o outcomes) set(id graph.ID, to outcome) { o[id] = to }

// fates are by the ID of the object, for a plan that is counted: the sentences that say why would
// take more memory than the graph.
type fates []fate

// fates returns what becomes of each object of the graph.
func (p Plan) fates() fates {
	out := make(fates, p.Graph.Len())
	p.judge(out, func(graph.ID, plan.Reason) string { return "" })
	return out
}

func (f fates) of(id graph.ID) outcome      { return outcome{fate: f[id]} }
func (f fates) set(id graph.ID, to outcome) { f[id] = to.fate }

// judge sets what becomes of each object that the plan touches; sentence says why.
func (p Plan) judge(out interface {
	of(graph.ID) outcome
	set(graph.ID, outcome)
}, sentence func(graph.ID, plan.Reason) string) {
	for _, a := range p.Actions {
		o := out.of(a.Object)
		o.last = a.Wave
		switch a.Verb {
		case plan.VerbDelete:
			o.fate = fate{a.Wave, a.Wave, deleted}
			o.stage, o.policy, o.because = a.Stage, a.Policy, sentence(a.Object, a.Because)
		case plan.VerbOrphan:
			if o.word == untouched {
				o.wave = a.Wave
			}
		case plan.VerbUnblock:
			if o.word == untouched {
				o.fate, o.because = fate{a.Wave, a.Wave, unblocked}, sentence(a.Object, a.Because)
			}
		case plan.VerbRemoveFinalizer: // of an owner that was being deleted before
			if o.word == untouched {
				o.fate, o.because = fate{a.Wave, a.Wave, deleted}, sentence(a.Object, a.Because)
			}
		}
		out.set(a.Object, o)
	}
	set := func(list []plan.ObjectReason, as func(plan.Reason) word) {
		for _, s := range list {
			o := out.of(s.Object)
			o.word, o.because = as(s.Because), sentence(s.Object, s.Because)
			out.set(s.Object, o)
		}
	}
	always := func(w word) func(plan.Reason) word { return func(plan.Reason) word { return w } }
	set(p.Kept, func(r plan.Reason) word {
		if r.Code == plan.OwnerOrphans {
			return orphaned
		}
		return kept
	})
	for _, r := range p.protected() {
		id, _ := p.Graph.Lookup(r.Object.UID)
		o := out.of(id)
		o.word, o.because = protected, "the server refuses its deletion: "+Escape(Shorten(r.Message))
		out.set(id, o)
	}
	for _, d := range p.Denied {
		o := out.of(d.Object)
		o.word, o.because = protected, "policy "+Escape(d.Policy)+" denies its deletion"
		out.set(d.Object, o)
	}
	set(p.Deadlocked, always(deadlocked))
	set(p.Stuck(), always(stuck))
	for _, id := range p.Unsettled {
		o := out.of(id)
		if o.word == deadlocked || o.word == stuck {
			continue // the summary names it, and what to do about it
		}
		o.because = strings.TrimPrefix(o.because+"; it depends on the collector's timing", "; ")
		out.set(id, o)
	}
	p.judgeDisks(out)
	for _, f := range p.Forbidden {
		o := out.of(f.Object)
		o.word, o.because = forbidden, "you may not "+f.Verb+" it"
		out.set(f.Object, o)
	}
}

// unobserved is the word for a node that was not listed.
func unobserved(s graph.State) word {
	if s == graph.Absent {
		return absent
	}
	return unknown
}
