package render

import (
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// mostLeftOut is how many of the objects that are left out are named.
const mostLeftOut = 10

// WarnPlanned writes what a person has to know of a deletion besides its plan.
func WarnPlanned(errOut io.Writer, p *deletion.Planned) {
	if p.Unscoped {
		note(errOut, "Warning: deleting cluster-scoped resources, not scoped to the provided namespace")
	}
	WarnGaps(errOut, p.Gaps)
	for i, o := range p.LeftOut {
		if i == mostLeftOut {
			note(errOut, "Warning: %d more are not deleted: they no longer match the selector, or another object has their name",
				len(p.LeftOut)-i)
			return
		}
		note(errOut, "Warning: %s is not deleted: %v", Quoted(o.Object), o.Err)
	}
}

// WarnNamespaces writes what a deletion does not do that does the garbage collector's part.
func WarnNamespaces(errOut io.Writer, p *deletion.Planned) {
	for _, id := range p.Roots {
		if r := p.Graph.Ref(id); r.Resource == "namespaces" && r.Group() == "" {
			note(errOut, "Warning: the namespace controller of kube-controller-manager deletes the content of %s; --gc=client does only the garbage collector's part", Quoted(r))
		}
	}
}

// WarnResult writes what has happened besides the plan.
func WarnResult(errOut io.Writer, r *deletion.Result) {
	warnAdopted(errOut, r.Orphaned)
	warnUnseen(errOut, r.Unseen)
	warnUnplanned(errOut, r.Unplanned, r.Archived)
}

// warnAdopted tells of orphans that have a new controller, as they may have if its selector
// matches.
func warnAdopted(errOut io.Writer, orphaned []act.Orphan) {
	for _, o := range orphaned {
		if o.Adopter != nil {
			note(errOut, "Warning: %s was orphaned and then adopted by %s", Quoted(o.Object),
				Escape(o.Adopter.Kind+"/"+o.Adopter.Name))
		}
	}
}

// warnUnseen tells of what was not waited for to its end, because it may neither be watched, listed
// nor read. As for kubectl that is no error: the deletion was asked for, and goes on.
func warnUnseen(errOut io.Writer, unseen []act.Unseen) {
	type place struct{ resource, group, namespace string }
	for _, there := range groups(unseen, func(u act.Unseen) (place, act.Unseen) {
		return place{u.Object.Resource, u.Object.Group(), u.Object.Namespace}, u
	}) {
		names := phrase.Words(there, func(u act.Unseen) string { return KindName(u.Object) })
		note(errOut, "Warning: cannot wait for %s, whose deletion continues: %s", SortedFew(names),
			Escape(Shorten(there[0].Err.Error())))
	}
}

// warnUnplanned tells of what the cluster's collector has deleted beyond the plan. Nobody can keep
// it from doing so.
func warnUnplanned(errOut io.Writer, unplanned []graph.Ref, archived bool) {
	if len(unplanned) == 0 {
		return
	}
	missing := ""
	if archived {
		missing = " and the archive"
	}
	note(errOut, "Warning: the collector also deleted dependents that are not in the plan%s: %s", missing,
		SortedFew(KindNames(unplanned...)))
}
