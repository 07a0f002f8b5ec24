package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Remarks are what a person should know of a plan besides its summary, a line for each subject.
func (p Plan) Remarks() []string {
	var lines []string
	for _, remark := range []func() string{p.remarkDisks, p.remarkUnreadDisks, p.remarkHeld, p.remarkIdle, p.remarkGrace, p.remarkUnread, p.remarkNonBlocking, p.remarkOrder, p.remarkSurprises, p.remarkOverridden, p.remarkClaims, p.remarkCycles} {
		if line := remark(); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// remarkHeld says how much more than the held objects themselves waits for their finalizers (RO-053).
func (p Plan) remarkHeld() string {
	holders := len(p.holders())
	if n := len(p.Remaining); holders > 0 && n > holders {
		return fmt.Sprintf("until the finalizers are off, %s", stay(n))
	}
	return ""
}

func stay(n int) string {
	if n == 1 {
		return "1 object stays"
	}
	return count(n, "object") + " stay"
}

func (p Plan) remarkGrace() string {
	n, longest := 0, int64(0)
	for _, b := range p.Blockers {
		if b.GracePeriodSeconds > 0 {
			n, longest = n+1, max(longest, b.GracePeriodSeconds)
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 pod terminates gracefully, up to %d s", longest)
	}
	return fmt.Sprintf("%s terminate gracefully, up to %d s", count(n, "pod"), longest)
}

func (p Plan) remarkUnread() string {
	var kinds []string
	counts := map[string]int{}
	for _, id := range p.Unread {
		kind := p.Graph.Ref(id).Kind
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	if len(kinds) == 0 {
		return ""
	}
	slices.Sort(kinds)
	for i, kind := range kinds {
		kinds[i] = count(counts[kind], Escape(kind))
	}
	return "not read: " + strings.Join(kinds, " and ") + "; how long pods take to terminate and which claims stay is not known of them"
}

func (p Plan) remarkNonBlocking() string {
	dependents := map[graph.ID]bool{}
	strict := ""
	for _, e := range p.NonBlocking {
		dependents[e.Dependent] = true
		owner, owns := p.Graph.Cycle(e.Owner)
		if dependent, owned := p.Graph.Cycle(e.Dependent); !owns || !owned || owner != dependent {
			strict = " (--strict sets it)" // which leaves cycles alone
		}
	}
	if len(dependents) == 0 {
		return ""
	}
	return fmt.Sprintf("foreground does not wait for %d of them: blockOwnerDeletion is not set%s", len(dependents), strict)
}

func (p Plan) remarkSurprises() string {
	var names []string
	for _, a := range p.Surprises() {
		names = append(names, fmt.Sprintf("%s (%s)", object(p.Graph, a.Object), p.because(a.Object, a.Because)))
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "1 is deleted although an owner lives on: " + names[0]
	}
	return fmt.Sprintf("%d are deleted although an owner lives on: %s", len(names), some(names))
}

// remarkOverridden warns of what does not do as its own finalizer says.
func (p Plan) remarkOverridden() string {
	var names []string
	for _, id := range p.Overridden() {
		names = append(names, object(p.Graph, id))
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "1 has the finalizer orphan, and its dependents go all the same, since its owner waits for it: " + names[0]
	}
	return fmt.Sprintf("%d have the finalizer orphan, and their dependents go all the same, since their owners wait for them: %s", len(names), some(names))
}

func (p Plan) remarkClaims() string {
	var names []string
	for _, s := range p.Survivors {
		if s.Because.Code == plan.ClaimRetained || s.Because.Code == plan.ClaimNotOwned {
			names = append(names, object(p.Graph, s.Object))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "1 claim stays: " + names[0]
	}
	return fmt.Sprintf("%s stay: %s", count(len(names), "claim"), some(names))
}

func (p Plan) remarkCycles() string {
	var names []string
	for _, cycle := range p.Cycles {
		names = append(names, p.cycle(cycle))
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "foreground cycle " + names[0] + endless
	}
	return "foreground cycles " + some(names) + endless
}
