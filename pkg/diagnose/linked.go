package diagnose

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// linked says what keeps an object whose actor waits for, or deletes, what links of packs lead to.
type linked struct {
	*core.Examination
	refusal *refusal.Examiner
	// subjects are the objects to explain.
	subjects map[graph.ID]bool
}

// awaitedBy returns what is still there of what the actor of a finalizer waits for before it
// removes it: what links of packs lead to, and dependents of the kinds that the pack names.
func (e *linked) awaitedBy(id graph.ID, name string) []graph.ID {
	all := e.linkedBy(id, name, true)
	if known, ok := e.knownOf(id, name); ok && len(known.WaitsFor) > 0 {
		for edge := range e.Graph.Dependents(id) {
			if ref := e.Graph.Ref(edge.Dependent); known.Awaits(ref.Group(), ref.Kind) {
				all = append(all, edge.Dependent)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// linkedBy returns what is still there of what the actor of a finalizer deletes by links of packs, or
// waits for once somebody else has deleted it; if awaited, only what it waits for.
func (e *linked) linkedBy(id graph.ID, name string, awaited bool) []graph.ID {
	var all []graph.ID
	for _, f := range e.Links.Found(id) {
		deleted := f.Deletes() || f.Tries() && f.Account == "" && e.Graph.DeletionTimestamp(f.Dependent()) != 0
		if f.Definition.Deletion.Holds(name) && deleted && (f.Effect.Waits || !awaited) &&
			e.Graph.Observed(f.Dependent()) {
			all = append(all, f.Dependent())
		}
	}
	return all
}

// haltedBy returns what is being deleted and has the actor of a finalizer delete nothing until it is
// gone, with the links that lead there.
func (e *linked) haltedBy(id graph.ID, name string) map[graph.ID]link.Found {
	all := map[graph.ID]link.Found{}
	for _, f := range e.Links.Found(id) {
		if f.Halts && f.Definition.Deletion.Holds(name) && e.Graph.Observed(f.Dependent()) &&
			e.Graph.DeletionTimestamp(f.Dependent()) != 0 {
			all[f.Dependent()] = f
		}
	}
	return all
}

// knownOf is what is known of a finalizer on an object.
func (e *linked) knownOf(id graph.ID, name string) (finalizer.Known, bool) {
	if e.Registry == nil {
		return finalizer.Known{}, false
	}
	ref := e.Graph.Ref(id)
	return e.Registry.Lookup(name, ref.Group(), ref.Kind)
}

// throughLinks returns why a finalizer is still there whose actor waits for other objects: what
// holds those. What is said of the actor stays if that is found not to work, or if nothing else is
// found.
func (e *linked) throughLinks(ctx context.Context, id graph.ID, name string, own []core.Finding) []core.Finding {
	ends, gaps := e.toLookAt(id, name), e.hidden(id, name, true)
	halted := e.haltedBy(id, name)
	var findings []core.Finding
	for _, end := range ends {
		keeps := append(e.keeps(ctx, end), core.Behind(e.Graph.Ref(end), e.goes(ctx, e.contentOf(end)))...)
		if !e.concerned(id, end) {
			keeps = e.withoutAdvice(keeps, id, end)
		}
		if f, halts := halted[end]; halts {
			keeps = core.Each(keeps, func(of *core.Finding) {
				of.Observe("%s deletes nothing of %s until %s is gone", f.Definition.Deletion.By, e.Placed(id), e.Placed(end))
			})
		}
		findings = append(findings, keeps...)
	}
	if refused := e.unpermitted(id, name, own); len(refused) > 0 {
		findings = append(findings, refused...)
		own = withoutWarnings(own, name) // which say the same, less exactly
	}
	if len(gaps) > 0 {
		findings = append(findings, e.hiddenEnd(id, name, own, gaps))
	}
	if len(findings) > 0 {
		own = slices.DeleteFunc(slices.Clone(own), func(f core.Finding) bool { return f.Finalizer == name && waits[f.Code] })
	}
	if gaps := e.hidden(id, name, false); len(gaps) > 0 {
		return append(findings, withoutRemoval(own, name, gaps)...)
	}
	return append(findings, e.leaving(id, name, own)...)
}

// unpermitted is for an actor that deletes other objects first, and that, or the ServiceAccount as
// which it acts, cannot.
func (e *linked) unpermitted(id graph.ID, name string, own []core.Finding) []core.Finding {
	f := core.Finding{Finalizer: name, At: e.Graph.Ref(id)}
	var ends []string
	for _, l := range e.Links.Found(id) {
		itself := l.Account == ""
		if !l.Definition.Deletion.Holds(name) || !l.Tries() || l.Refused == "" || !e.Graph.Observed(l.Dependent()) ||
			itself && e.Graph.DeletionTimestamp(l.Dependent()) != 0 {
			continue
		}
		t, _ := e.Graph.Type(l.Dependent())
		end := e.Graph.Ref(l.Dependent())
		if ends = append(ends, end.Located()); len(ends) <= phrase.MaxNamed {
			f.Observe("%s is to be deleted first, and %s", end.Located(), l.Refused)
		}
		if len(ends) > 1 {
			continue
		}
		f.Actor = l.Definition.Deletion.By
		f.Sentence = f.Actor + " removes the finalizer when it has deleted other objects, and " + l.Refused
		if itself {
			f.Code = core.InUse
			f.Commands = []core.Step{core.At(end, core.InTheWay(false))}
			continue
		}
		f.Code = core.ActorForbidden
		account := cluster.ServiceAccount{Namespace: e.Graph.Namespace(l.Source), Name: l.Account}
		f.Remedy = fmt.Sprintf("Let ServiceAccount %s/%s get and delete %s again, or delete it yourself; %s goes on then.",
			account.Namespace, account.Name, end.Located(), f.Actor)
		ask := []string{"kubectl", "auth", "can-i", "delete", t.GroupResource().String(), "--as=" + account.User()}
		if end.Namespace != "" {
			ask = append(ask, "-n", end.Namespace)
		}
		f.Commands = []core.Step{
			core.FixedCommand(ask...).Safely("asks the server whether it may")}
	}
	if len(ends) == 0 {
		return nil
	}
	if more := len(ends) - phrase.MaxNamed; more > 0 {
		f.Observe("%d more are to be deleted first", more)
	}
	f.Args = []string{"{users}", phrase.And(ends)}
	for _, of := range own {
		if of.Finalizer == name {
			f.Cost, f.DataLoss = of.Cost, of.DataLoss
		}
	}
	return []core.Finding{f}
}

// withoutWarnings leaves out what an actor waits for only by a warning.
func withoutWarnings(own []core.Finding, name string) []core.Finding {
	return slices.DeleteFunc(slices.Clone(own), func(f core.Finding) bool { return f.Finalizer == name && f.Warned })
}

// waits are the causes that say no more of an actor than that it has not removed its finalizer,
// which it does not do before what it waits for is gone.
var waits = map[core.Code]bool{core.FinalizerActorAlive: true, core.FinalizerActorUnknown: true,
	core.FinalizerActorNotFound: true}

// goes returns what keeps objects that somebody deletes: what holds those that are being deleted,
// and who rejects the deletion of the others.
func (e *linked) goes(ctx context.Context, ids []graph.ID) []core.Finding {
	var findings []core.Finding
	for _, id := range ids {
		findings = append(findings, e.keeps(ctx, id)...)
	}
	return findings
}

// keeps returns what keeps one object that somebody deletes.
func (e *linked) keeps(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	if e.Graph.DeletionTimestamp(id) != 0 {
		return core.Behind(ref, e.Causes(ctx, id))
	}
	return core.Behind(ref, core.Found(ref, e.refusal.Rejected(ctx, id)...))
}

// contentOf are the instances of a CRD that is not being deleted: Crossplane deletes them before
// it.
func (e *linked) contentOf(id graph.ID) []graph.ID {
	if e.Graph.DeletionTimestamp(id) != 0 || !core.OfType(cluster.CRDs)(e.Graph.Ref(id)) {
		return nil
	}
	return e.Links.Content(id)
}

// concerned reports whether what is said of an object may advise to do something about another, to
// which it leads by a link or an ownerReference: that confirms the link, is owned, or was asked
// about too.
func (e *linked) concerned(id, end graph.ID) bool {
	return e.subjects[end] || e.Graph.Owns(id, end) ||
		slices.ContainsFunc(e.Links.Found(id), func(f link.Found) bool { return f.Dependent() == end && f.Confirmed })
}

// toLookAt are what an object waits for. Of what an unconfirmed link leads to and that is not being
// deleted, the server is not asked who rejects its deletion.
func (e *linked) toLookAt(id graph.ID, name string) []graph.ID {
	all := slices.AppendSeq(e.awaitedBy(id, name), maps.Keys(e.haltedBy(id, name)))
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(end graph.ID) bool {
		return e.Graph.DeletionTimestamp(end) == 0 && !e.concerned(id, end)
	})
}

// withoutAdvice takes what to do out of findings that were made behind an object to which only an
// unconfirmed link leads.
func (e *linked) withoutAdvice(findings []core.Finding, id, end graph.ID) []core.Finding {
	return core.Each(findings, func(f *core.Finding) {
		f.Commands, f.Cost = nil, ""
		f.Remedy = fmt.Sprintf("Only %s says that %s belongs to it: leave that to whoever it belongs to.", e.Placed(id),
			e.Placed(end))
	})
}
