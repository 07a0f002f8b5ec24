package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remark is a line about a plan, and the objects that it is about; none where it counts many.
type remark struct {
	text    string
	objects []graph.Ref
}

// remarks are all that a person should know of a plan besides its summary, in the order in which
// they are printed. Codes are part of the output's contract.
var remarks = [...]struct {
	code, severity, means string
	of                    func(Plan) []remark
	// few says that only the first of many are printed.
	few bool
}{
	{"Stage", info, "which objects an ordered deletion deletes in a stage", Plan.remarkStages, false},
	{"NoOrder", severe, "each of some objects has to be deleted before another one, in a ring: there is no order",
		Plan.remarkOrderCycle, false},
	{"ControllerDeleted", severe, "the controller that removes the finalizers of objects is deleted first: their deletion does not complete", Plan.remarkStuck, false},
	{"DeletionRefused", severe, "the server refuses to delete objects that others would delete; only with --dry-run=server", Plan.remarkProtected, false},
	{"ServerNotAsked", warning, "the server was not asked about all deletes, or not in the name of the controllers; only with --dry-run=server", Plan.remarkAsked, false},
	{"FinalizerAbandoned", warning,
		"objects that are not deleted keep a finalizer that nobody removes any more afterwards", Plan.remarkAbandoned, false},
	{"APIServiceWithoutBackend", warning,
		"an APIService is not deleted and loses its backend: namespace deletions hang then", Plan.remarkUnserved, false},
	{"DataDestroyed", warning, "the data of volumes are destroyed", Plan.remarkDisks, false},
	{"DataUnknown", warning, "whether the data of volumes are destroyed could not be found out",
		Plan.remarkUnreadDisks, false},
	{"WaitsForFinalizers", info, "more objects wait for finalizers than have them", Plan.remarkHeld, false},
	{"ControllerNotRunning", warning, "the controller of a finalizer that the deletion waits for does not run",
		Plan.remarkIdle, false},
	{"GracePeriod", info, "pods terminate gracefully", Plan.remarkGrace, false},
	{"NotRead", warning, "pods and StatefulSets could not be read: how long they take, and which PVCs are kept, is unknown", Plan.remarkUnread, false},
	{"NotBlocking", info, "the foreground deletion does not wait for some dependents", Plan.remarkNonBlocking, false},
	{"DependentsFirst", warning, "a foreground deletion deletes dependents before the controllers of their owner's finalizers act", Plan.remarkOrder, false},
	{"OwnerKept", warning, "objects are deleted although one of their owners is kept", Plan.remarkSurprises, false},
	{"OrphanOverridden", warning, "the foreground deletion of an owner overrides the orphan finalizer of a dependent",
		Plan.remarkOverridden, false},
	{"PVCKept", info, "PVCs of StatefulSets are kept", Plan.remarkClaims, false},
	{"ForegroundCycle", severe, "objects wait for each other in a ring: their deletion does not complete",
		Plan.remarkCycles, false},
	{"OutsideKept", warning, "what objects manage outside the cluster stays, or that is unknown", Plan.remarkSpared, true},
	{"PolicyChanged", info, "what is set or deleted first, so that a program deletes in the foreground",
		Plan.remarkForeground, true},
	{"Guarded", severe, "the server refuses the deletion of an object until another one is deleted",
		Plan.remarkGuarded, true},
	{"Recreated", warning, "a program creates an object again after its deletion", Plan.remarkRecreated, true},
	{"LinkUnconfirmed", info, "only links that they do not confirm lead to objects: kubectl gc itself does not write to them", Plan.remarkUnconfirmed, true},
}

// FindingCodes calls yield with the code, the severity and the meaning of each kind of Findings.
func FindingCodes(yield func(code, severity, means string)) {
	for _, kind := range remarks {
		yield(kind.code, kind.severity, kind.means)
	}
}

// The severities, as those of kubectl gc check.
const (
	severe  = "error"
	warning = "warning"
	info    = "info"
)

// Remarks are what a person should know of a plan besides its summary, a line each.
func (p Plan) Remarks() []string {
	var lines []string
	for _, kind := range remarks {
		var of []string
		for _, r := range kind.of(p) {
			of = append(of, r.text)
		}
		if kind.few {
			of = firstLines(of)
		}
		lines = append(lines, of...)
	}
	return lines
}

// Findings are the Remarks with their codes, all of them.
func (p Plan) Findings() []v1alpha1.PlanFinding {
	var all []v1alpha1.PlanFinding
	for _, kind := range remarks {
		for _, r := range kind.of(p) {
			f := v1alpha1.PlanFinding{Code: kind.code, Severity: kind.severity, Message: r.text}
			for _, ref := range r.objects {
				f.Objects = append(f.Objects, v1alpha1.ObjectRef(ref))
			}
			all = append(all, f)
		}
	}
	return all
}

// about is a remark about objects of the graph.
func (p Plan) about(text string, about ...graph.ID) remark {
	r := remark{text: text}
	for _, id := range about {
		r.objects = append(r.objects, p.Graph.Ref(id))
	}
	return r
}

// remarkHeld says how much more than the held objects themselves waits for their finalizers
// (RO-053).
func (p Plan) remarkHeld() []remark {
	holders := len(p.holders())
	if n := len(p.Blocked); holders > 0 && n > holders {
		return []remark{{text: phrase.Count(n, "object") + " cannot be deleted until the finalizers are removed"}}
	}
	return nil
}

func (p Plan) remarkGrace() []remark {
	n, longest := 0, int64(0)
	for _, b := range p.Blockers {
		if b.GracePeriodSeconds > 0 {
			n, longest = n+1, max(longest, b.GracePeriodSeconds)
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return []remark{{text: fmt.Sprintf("1 pod terminates gracefully, up to %d s", longest)}}
	}
	return []remark{{text: fmt.Sprintf("%s terminate gracefully, up to %d s", phrase.Count(n, "pod"), longest)}}
}

func (p Plan) remarkUnread() []remark {
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
		return nil
	}
	slices.Sort(kinds)
	for i, kind := range kinds {
		kinds[i] = phrase.Count(counts[kind], Escape(kind))
	}
	return []remark{{text: "not read: " + strings.Join(kinds, " and ") +
		"; how long the pods take to terminate and which PVCs are kept is unknown"}}
}

func (p Plan) remarkNonBlocking() []remark {
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
		return nil
	}
	return []remark{{text: fmt.Sprintf("the foreground deletion does not wait for %s: blockOwnerDeletion is not set%s",
		phrase.Count(len(dependents), "dependent"), strict)}}
}

func (p Plan) remarkSurprises() []remark {
	var names []string
	var ids []graph.ID
	for _, a := range p.Surprises() {
		ids = append(ids, a.Object)
		names = append(names, fmt.Sprintf("%s (%s)", KindName(p.Graph.Ref(a.Object)), p.Because(a.Object, a.Because)))
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []remark{p.about("1 object is deleted although one of its owners is kept: "+names[0], ids...)}
	}
	return []remark{p.about(fmt.Sprintf("%d objects are deleted although one of their owners is kept: %s", len(names),
		phrase.FirstFew(names, maxNamed)), ids...)}
}

// remarkOverridden warns of what does not do as its own finalizer says.
func (p Plan) remarkOverridden() []remark {
	ids := p.Overridden()
	names := KindNamesOf(p.Graph, ids)
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []remark{p.about(
			fmt.Sprintf(
				"the orphan finalizer of %[1]s is overridden by its owner's foreground deletion: the dependents of %[1]s are deleted too", names[0]), ids...)}
	}
	return []remark{p.about(
		fmt.Sprintf(
			"the orphan finalizers of %s are overridden by the foreground deletion of their owners: their dependents are deleted too", phrase.FirstFew(names, maxNamed)), ids...)}
}

func (p Plan) remarkClaims() []remark {
	var ids []graph.ID
	for _, s := range p.Kept {
		if s.Because.Code == plan.PVCRetained || s.Because.Code == plan.PVCNotOwned {
			ids = append(ids, s.Object)
		}
	}
	names := KindNamesOf(p.Graph, ids)
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []remark{p.about("1 PVC is kept: "+names[0], ids...)}
	}
	return []remark{p.about(fmt.Sprintf("%s are kept: %s", phrase.Count(len(names), "PVC"),
		phrase.FirstFew(names, maxNamed)), ids...)}
}

func (p Plan) remarkCycles() []remark {
	var names []string
	for _, cycle := range p.Cycles {
		names = append(names, p.cycle(cycle))
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []remark{p.about("foreground cycle "+names[0]+endless, p.Cycles[0]...)}
	}
	return []remark{p.about("foreground cycles "+phrase.FirstFew(names, maxNamed)+endless, slices.Concat(p.Cycles...)...)}
}
