package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remark is a line about a plan, and the objects that it is about; none where it counts many.
type remark struct {
	text    string
	objects []graph.Ref
}

// kindOfRemark is what a remark is about.
type kindOfRemark struct {
	code, severity, means string
	of                    func(Plan) []remark
	// few says that only the first of many are printed.
	few bool
}

// texts are the lines to print.
func (k kindOfRemark) texts(p Plan) []string {
	texts := phrase.Words(k.of(p), func(r remark) string { return r.text })
	if k.few {
		return firstLines(texts)
	}
	return texts
}

// remarks are all that a person should know of a plan besides its summary, in the order in which
// they are printed: data, what does not complete, and the rest. Codes are part of the output's
// contract.
var remarks = [...]kindOfRemark{
	{destroysData, warning, "the data of volumes are destroyed", Plan.remarkDisks, false},
	{"DataUnknown", warning, "whether the data of volumes are destroyed could not be found out",
		Plan.remarkUnreadDisks, false},
	{"NoOrder", severe, "each of some objects has to be deleted before another one, in a ring: there is no order",
		Plan.remarkOrderCycle, false},
	{"ControllerDeleted", severe, "the controller that removes the finalizers of objects is deleted first: their deletion does not complete", Plan.remarkStuck, false},
	{"DeletionRefused", severe, "the server refuses to delete objects; but for the namespaces that it never deletes, and for what loses its API or a webhook's backend, only with --dry-run=server", Plan.remarkProtected, false},
	{"DeniedByPolicy", severe, "a policy of kubectl gc protect denies the deletion of an object that is to be deleted: nothing is deleted", Plan.remarkDenied, true},
	{"ForegroundCycle", severe, "objects wait for each other in a ring: their deletion does not complete",
		Plan.remarkCycles, false},
	{"AccountRefused", severe, "a program lets an object go only once others are deleted, and it, or the ServiceAccount as which it acts, cannot delete these", Plan.remarkRefused, true},
	{"Guarded", severe, "the server refuses the deletion of an object until another one is deleted",
		Plan.remarkGuarded, true},
	{"Stage", info, "which objects an ordered deletion deletes in a stage", Plan.remarkStages, false},
	{"ServerNotAsked", warning, "the server was not asked about all deletes, or not in the name of the controllers; only with --dry-run=server", Plan.remarkAsked, false},
	{"FinalizerAbandoned", warning,
		"objects that are not deleted keep a finalizer that nobody removes any more afterwards", Plan.remarkAbandoned, false},
	{"APIServiceWithoutBackend", warning,
		"an APIService is not deleted and loses its backend: namespace deletions hang then", Plan.remarkUnserved, false},
	{"WebhookWithoutBackend", warning, "a webhook with failurePolicy Fail is not deleted and loses its backend: the server refuses what it is called for then", Plan.remarkUnhooked, false},
	{"NodeSilent", warning, "pods are on a node whose kubelet is not heard from: they are not gone until it confirms that they have stopped", Plan.remarkSilentNodes, true},
	{"DiscoveryFailed", warning, "the discovery of an API fails: namespaces that are deleted are not gone until it works", Plan.remarkUndiscovered, true},
	{"WebhookDown", warning, "a webhook with failurePolicy Fail does not answer, and is called for each deletion of objects, or for each update where finalizers or owner references have to be changed: the deletion does not complete", Plan.remarkUnanswered, true},
	{"WaitsForFinalizers", info, "more objects wait for finalizers than have them", Plan.remarkHeld, false},
	{"ControllerNotRunning", warning, "the controller of a finalizer that the deletion waits for, or that deletes an object because of a link, does not run, has no leader, leaves the object alone, may not remove the finalizer, or lacks what it needs for that",
		Plan.remarkIdle, false},
	{"ControllerNotFound", warning, "the controller of a finalizer that the deletion waits for, or that deletes an object because of a link, was not found in the cluster: it may have been uninstalled, or run under another name", Plan.remarkNotFound, false},
	{"ControllersNotExamined", warning, "whether the controllers of finalizers run was not looked at: there are too many, or objects could not be read",
		Plan.remarkUnexamined, false},
	{"Paused", warning, "an object that the deletion waits for is paused: its controller ignores it", Plan.remarkPaused,
		true},
	{"NeedsConfirmation", warning, "an object that the deletion waits for is not gone until somebody confirms its deletion",
		Plan.remarkConfirmations, true},
	{"ConfirmationUnknown", warning, "whether somebody has to confirm the deletion of an object could not be found out",
		Plan.remarkUnreadConfirmations, false},
	{"ObjectInUse", warning, "objects that do not go with it use an object, and a finalizer keeps it until they do not",
		Plan.remarkInUse, true},
	{"CollectorNotRunning", warning, "the garbage collector does not run, and some objects are its to delete",
		Plan.remarkCollector, false},
	{"NamespaceControllerNotRunning", warning, "the namespace controller does not run, and namespaces are deleted",
		Plan.remarkNamespacesStopped, false},
	{"GracePeriod", info, "pods terminate gracefully", Plan.remarkGrace, false},
	{"NotRead", warning, "pods, StatefulSets or namespaces could not be read, or are too many: how long they take, which PVCs are kept, and which finalizers the specs of the namespaces have, is unknown", Plan.remarkUnread, false},
	{"NotBlocking", info, "the foreground deletion does not wait for some dependents", Plan.remarkNonBlocking, false},
	{"DependentsFirst", warning, "a foreground deletion deletes dependents before the controllers of their owner's finalizers act", Plan.remarkOrder, false},
	{"OwnerKept", warning, "objects are deleted although one of their owners is kept", Plan.remarkSurprises, false},
	{"OrphanOverridden", warning, "the foreground deletion of an owner overrides the orphan finalizer of a dependent",
		Plan.remarkOverridden, false},
	{"KeptByChange", warning, "objects that the manifests after a change still have are deleted all the same, with what the change removes",
		Plan.remarkStaying, false},
	{"PruneWaits", info, "who prunes does not delete objects by itself: somebody has to begin or confirm that", Plan.remarkPruneWaits, true},
	{"NotPruned", info, "who prunes keeps objects that a source no longer has, or did not apply them", Plan.remarkLeft, true},
	{"PVCKept", info, "PVCs of StatefulSets are kept", Plan.remarkClaims, false},
	{"OutsideKept", warning, "what objects manage outside the cluster stays, or that is unknown", Plan.remarkSpared, true},
	{"PolicyChanged", info, "what is set or deleted first, so that a program deletes in the foreground",
		Plan.remarkForeground, true},
	{"AccountUnsure", warning, "whether a program may delete objects is not known: what the ServiceAccount may do as which it acts, or what permits it; or that account is deleted too", Plan.remarkDoubtful, true},
	{"Recreated", warning, "a program creates an object again after its deletion", Plan.remarkRecreated, true},
	{"Frees", info, "what no longer holds or asks for something: requests of pods, storage, DNS names, certificates", Plan.remarkFreed, false},
	{"Outside", info, "what deleted objects stand for outside the cluster", Plan.remarkOutside, true},
	{"LinkUnconfirmed", info, "only links that they do not confirm lead to objects: kubectl gc itself does not write to them", Plan.remarkUnconfirmed, true},
}

const destroysData = "DataDestroyed"

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
	return phrase.Words(p.remarks(), func(r remarkLine) string { return r.text })
}

// WarnPlan writes what a deletion that nobody is asked about destroys, and what keeps it from its end
// as things are.
func WarnPlan(errOut io.Writer, p Plan) {
	for _, kind := range remarks {
		if kind.severity == warning && slices.ContainsFunc(gates, func(g gate) bool {
			return g.warns && slices.Contains(g.codes, kind.code)
		}) {
			for _, text := range kind.texts(p) {
				Warn(errOut, "%s", text)
			}
		}
	}
}

// remarkLine is one that is printed; a bad one is of what is destroyed, or does not complete.
type remarkLine struct {
	text string
	bad  bool
}

func (r remarkLine) color(palette Palette) *color.Color {
	if r.bad {
		return palette.bad
	}
	return nil
}

func (p Plan) remarks() []remarkLine {
	var lines []remarkLine
	for _, kind := range remarks {
		for _, text := range kind.texts(p) {
			lines = append(lines, remarkLine{text, kind.severity == severe || kind.code == destroysData})
		}
	}
	return lines
}

// Findings are the Remarks with their codes, all of them.
func (p Plan) Findings() []v1alpha1.PlanFinding {
	var all []v1alpha1.PlanFinding
	for _, kind := range remarks {
		for _, r := range kind.of(p) {
			all = append(all,
				v1alpha1.PlanFinding{Code: kind.code, Severity: kind.severity, Message: r.text, Objects: r.objects})
		}
	}
	return all
}

// few names the first few of some objects.
func (p Plan) few(ids []graph.ID) string { return few(KindNamesOf(p.Graph, ids)) }

// about is a remark about objects of the graph.
func (p Plan) about(text string, about ...graph.ID) remark {
	return remark{text, p.Graph.Refs(about)}
}

// of is a remark about objects of the graph, if there are some.
func (p Plan) of(about []graph.ID, format string, args ...any) []remark {
	if len(about) == 0 {
		return nil
	}
	return []remark{p.about(fmt.Sprintf(format, args...), about...)}
}

// remarkStaying names the objects that go although the change keeps them, and why they do.
func (p Plan) remarkStaying() []remark {
	staying := graph.SetOf(p.Staying)
	var names []string
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete && staying[a.Object] {
			delete(staying, a.Object)
			names = append(names, fmt.Sprintf("%s (%s)", located(p.Graph, a.Object), p.Because(a.Object, a.Because)))
		}
	}
	n := len(p.Staying)
	return p.of(p.Staying, "%s deleted although the change keeps %s: %s", objectsAre(n), phrase.Plural(n, "it", "them"),
		few(names))
}

// remarkPruneWaits says what somebody has to do before who prunes deletes objects.
func (p Plan) remarkPruneWaits() []remark {
	var all []remark
	for says, ids := range groups(p.PruneWaits,
		func(w deletion.PruneWait) (string, graph.ID) { return w.Says, w.Object }) {
		all = append(all, p.of(ids, "%s: %s", fewLocated(p.Graph, ids), Escape(says))...)
	}
	return all
}

// remarkLeft says why who prunes leaves objects: on a narrow terminal the table has no room for it.
func (p Plan) remarkLeft() []remark {
	var all []remark
	for why, ids := range groups(p.Kept,
		func(k plan.ObjectReason) (string, graph.ID) { return p.Left(k.Object), k.Object }) {
		if why != "" {
			all = append(all, p.of(ids, "%s: %s", fewLocated(p.Graph, ids), Escape(why))...)
		}
	}
	return all
}

// remarkHeld says how much more than the held objects themselves waits for their finalizers
// (RO-053).
func (p Plan) remarkHeld() []remark {
	var stay []graph.ID
	for _, b := range p.Blockers {
		if len(b.Finalizers) > 0 && !p.clears(b) {
			stay = append(stay, b.Object)
		}
	}
	// Those that go by themselves are named with the others, and not counted once more.
	passing, of := count(p.Blockers, p.clears), ""
	if passing > 0 {
		of = " of " + fewLocated(p.Graph, stay)
	}
	if n := len(p.Blocked) - passing; len(stay) > 0 && n > len(stay) {
		return []remark{{text: phrase.Count(n, "object") + " cannot be deleted until the finalizers" + of + " are removed"}}
	}
	return nil
}

// clears reports whether the finalizers of an object go by themselves: those that Kubernetes puts
// on every claim and every volume, where it was seen that nothing that stays uses it.
func (p Plan) clears(b plan.Blocker) bool {
	return len(b.Finalizers) > 0 &&
		!slices.ContainsFunc(b.Finalizers, func(name string) bool {
			return name != actor.PVCFinalizer && name != actor.VolumeFinalizer
		}) &&
		slices.Contains(p.Unused, b.Object)
}

func (p Plan) remarkGrace() []remark {
	n, longest := 0, int64(0)
	for _, b := range p.Blockers {
		if b.GracePeriodSeconds > 0 {
			n, longest = n+1, max(longest, b.GracePeriodSeconds)
		}
	}
	if n == 0 {
		return nil
	}
	return []remark{{text: fmt.Sprintf("%s %s gracefully, up to %d s", phrase.Count(n, "pod"),
		phrase.Plural(n, "terminates", "terminate"), longest)}}
}

func (p Plan) remarkUnread() []remark {
	kindOf := func(id graph.ID) string { return p.Graph.Ref(id).Kind }
	unread := slices.SortedStableFunc(slices.Values(p.Unread),
		func(a, b graph.ID) int { return strings.Compare(kindOf(a), kindOf(b)) })
	var kinds []string
	for kind, ids := range groups(unread, func(id graph.ID) (string, graph.ID) { return kindOf(id), id }) {
		kinds = append(kinds, phrase.Count(len(ids), Escape(kind))+" ("+p.whyUnread(ids)+")")
	}
	if len(kinds) == 0 {
		return nil
	}
	return []remark{{text: "not read: " + strings.Join(kinds, " and ") +
		"; how long pods take to terminate, which PVCs are kept and which finalizers the specs of namespaces have is unknown"}}
}

// whyUnread says why some objects were not read.
func (p Plan) whyUnread(ids []graph.ID) string {
	if len(ids) > 0 && slices.Contains(p.TooMany, ids[0]) { // all of them, or none
		return "there are too many to read"
	}
	return phrase.Plural(len(ids), "it", "they") + " could not be read"
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
	return p.of(ids, "%s deleted although one of %s owners is kept: %s",
		objectsAre(len(ids)), phrase.Plural(len(ids), "its", "their"), few(names))
}

// remarkOverridden warns of what does not do as its own finalizer says.
func (p Plan) remarkOverridden() []remark {
	ids := p.Overridden()
	format := "the orphan finalizers of %s are overridden by the foreground deletion of their owners: their dependents are deleted too"
	if len(ids) == 1 {
		format = "the orphan finalizer of %[1]s is overridden by its owner's foreground deletion: the dependents of %[1]s are deleted too"
	}
	return p.of(ids, format, p.few(ids))
}

func (p Plan) remarkClaims() []remark {
	var ids []graph.ID
	for _, s := range p.Kept {
		if s.Because.Code == plan.PVCRetained || s.Because.Code == plan.PVCNotOwned {
			ids = append(ids, s.Object)
		}
	}
	return p.of(ids, "%s %s kept: %s", phrase.Count(len(ids), "PVC"), phrase.Plural(len(ids), "is", "are"), p.few(ids))
}

func (p Plan) remarkCycles() []remark {
	names := phrase.Words(p.Cycles, p.cycle)
	return p.of(slices.Concat(p.Cycles...), "foreground %s %s%s", phrase.Plural(len(names), "cycle", "cycles"),
		few(names), endless)
}

// remarkSpared says what stays outside the cluster, a line for each reason, and of what that is not
// known.
func (p Plan) remarkSpared() []remark {
	var all []remark
	for because, objects := range groups(p.Spared,
		func(s v1alpha1.Spared) (string, graph.Ref) { return s.Because, s.Object }) {
		all = append(all, remark{fmt.Sprintf("what %s manages outside the cluster stays: %s",
			few(kindNames(objects...)), Escape(because)), objects})
	}
	return append(all, p.of(p.UnreadSpared, "it is unknown whether what %s manages outside the cluster stays: %s",
		p.few(p.UnreadSpared), p.whyUnread(p.UnreadSpared))...)
}

// remarkStages says what an ordered deletion deletes in each stage.
func (p Plan) remarkStages() []remark {
	var all []remark
	for i, s := range p.Stages() {
		line := fmt.Sprintf("stage %d deletes %s", i+1, p.few(s.Objects))
		line += phrase.More("; %d more go with them", len(s.Deleted)-len(s.Objects))
		all = append(all, p.about(line, s.Objects...))
	}
	return all
}

// remarkOrderCycle says why an ordered deletion has no order.
func (p Plan) remarkOrderCycle() []remark {
	if p.Unordered == "" {
		return nil
	}
	return []remark{p.about("there is no order in which all can be deleted: "+Escape(p.Unordered), p.OrderCycle()...)}
}
