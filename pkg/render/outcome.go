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
	out := p.judge(p.Because)
	for _, b := range p.Blockers {
		o := out[b.Object]
		o.heldBy = p.holder(b)
		out[b.Object] = o
	}
	return out
}

// judge returns what becomes of each object that the plan touches; sentence says why. A plan that is
// counted does without: the sentences would take more memory than the graph.
func (p Plan) judge(sentence func(graph.ID, plan.Reason) string) outcomes {
	out := make(outcomes, len(p.Deleted))
	for _, a := range p.Actions {
		o := out[a.Object]
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
		out[a.Object] = o
	}
	set := func(list []plan.ObjectReason, as func(plan.Reason) word) {
		for _, s := range list {
			o := out[s.Object]
			o.word, o.because = as(s.Because), sentence(s.Object, s.Because)
			out[s.Object] = o
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
		o := out[id]
		o.word, o.because = protected, "the server refuses its deletion: "+Escape(Shorten(r.Message))
		out[id] = o
	}
	for _, d := range p.Denied {
		o := out[d.Object]
		o.word, o.because = protected, "policy "+Escape(d.Policy)+" denies its deletion"
		out[d.Object] = o
	}
	set(p.Deadlocked, always(deadlocked))
	set(p.Stuck(), always(stuck))
	for _, id := range p.Unsettled {
		o := out[id]
		if o.word == deadlocked || o.word == stuck {
			continue // the summary names it, and what to do about it
		}
		o.because = strings.TrimPrefix(o.because+"; it depends on the collector's timing", "; ")
		out[id] = o
	}
	p.judgeDisks(out)
	for _, f := range p.Forbidden {
		o := out[f.Object]
		o.word, o.because = forbidden, "you may not "+f.Verb+" it"
		out[f.Object] = o
	}
	return out
}

// unobserved is the word for a node that was not listed.
func unobserved(s graph.State) word {
	if s == graph.Absent {
		return absent
	}
	return unknown
}
