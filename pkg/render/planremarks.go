package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Remarks are what a person should know of a plan besides its summary, a line for each subject.
func (p Plan) Remarks() []string {
	var lines []string
	for _, remark := range []func() string{p.remarkStages, p.remarkOrderCycle, p.remarkStuck, p.remarkProtected, p.remarkAsked, p.remarkAbandoned, p.remarkUnserved, p.remarkDisks, p.remarkUnreadDisks, p.remarkHeld, p.remarkIdle, p.remarkGrace, p.remarkUnread, p.remarkNonBlocking, p.remarkOrder, p.remarkSurprises, p.remarkOverridden, p.remarkClaims, p.remarkCycles} {
		if line := remark(); line != "" {
			lines = append(lines, line)
		}
	}
	return slices.Concat(lines, p.remarkSpared(), p.remarkForeground(), p.remarkGuarded(), p.remarkRecreated(), p.remarkUnconfirmed())
}

// remarkHeld says how much more than the held objects themselves waits for their finalizers (RO-053).
func (p Plan) remarkHeld() string {
	holders := len(p.holders())
	if n := len(p.Blocked); holders > 0 && n > holders {
		return phrase.Count(n, "object") + " cannot be deleted until the finalizers are removed"
	}
	return ""
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
	return fmt.Sprintf("%s terminate gracefully, up to %d s", phrase.Count(n, "pod"), longest)
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
		kinds[i] = phrase.Count(counts[kind], Escape(kind))
	}
	return "not read: " + strings.Join(kinds, " and ") + "; how long the pods take to terminate and which PVCs are kept is unknown"
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
	return fmt.Sprintf("the foreground deletion does not wait for %s: blockOwnerDeletion is not set%s", phrase.Count(len(dependents), "dependent"), strict)
}

func (p Plan) remarkSurprises() string {
	var names []string
	for _, a := range p.Surprises() {
		names = append(names, fmt.Sprintf("%s (%s)", KindName(p.Graph.Ref(a.Object)), p.Because(a.Object, a.Because)))
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "1 object is deleted although one of its owners is kept: " + names[0]
	}
	return fmt.Sprintf("%d objects are deleted although one of their owners is kept: %s", len(names), phrase.FirstFew(names, maxNamed))
}

// remarkOverridden warns of what does not do as its own finalizer says.
func (p Plan) remarkOverridden() string {
	var names []string
	for _, id := range p.Overridden() {
		names = append(names, KindName(p.Graph.Ref(id)))
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("the orphan finalizer of %[1]s is overridden by its owner's foreground deletion: the dependents of %[1]s are deleted too", names[0])
	}
	return fmt.Sprintf("the orphan finalizers of %s are overridden by the foreground deletion of their owners: their dependents are deleted too", phrase.FirstFew(names, maxNamed))
}

func (p Plan) remarkClaims() string {
	var names []string
	for _, s := range p.Kept {
		if s.Because.Code == plan.PVCRetained || s.Because.Code == plan.PVCNotOwned {
			names = append(names, KindName(p.Graph.Ref(s.Object)))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "1 PVC is kept: " + names[0]
	}
	return fmt.Sprintf("%s are kept: %s", phrase.Count(len(names), "PVC"), phrase.FirstFew(names, maxNamed))
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
	return "foreground cycles " + phrase.FirstFew(names, maxNamed) + endless
}
