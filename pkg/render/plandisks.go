package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// remarkDisks says what data are destroyed, and how to keep them.
func (p Plan) remarkDisks() []remark {
	if len(p.Disks) == 0 {
		return nil
	}
	r := remark{text: Escape(status.Destroys(p.Disks) + "; " + status.KeepDisks(p.Disks))}
	for _, d := range p.Disks {
		r.objects = append(r.objects, d.Volume)
	}
	return []remark{r}
}

// judgeDisks sets what becomes of the volumes of the claims that are deleted. That one is released
// is nothing that is done to it, but its disk can go.
func (p Plan) judgeDisks(of func(graph.ID) outcome, say func(graph.ID, word, string)) {
	set := func(disks []v1alpha1.Disk, w word) {
		for _, d := range disks {
			id, ok := p.Graph.Find("", d.Volume.Resource, "", d.Volume.Name)
			if !ok || p.Graph.Ref(id).UID != d.Volume.UID {
				continue
			}
			switch o := of(id); {
			case o.word == deleted && w == destroyed:
				say(id, w, o.because)
			case o.word == untouched:
				because := "reclaim policy " + Escape(d.ReclaimPolicy)
				if slices.ContainsFunc(p.InUse, func(u plan.InUse) bool {
					return d.Claim != nil && p.Graph.Ref(u.Object).UID == d.Claim.UID
				}) {
					because += ", once its claim is no longer used"
				}
				say(id, w, because)
			}
		}
	}
	set(p.Disks, destroyed)
	set(p.KeptDisks, kept)
}

func (p Plan) remarkUnreadDisks() []remark {
	return p.of(p.UnreadDisks, "it is unknown whether the data of %s are destroyed: the volumes could not be read",
		few(KindNamesOf(p.Graph, p.UnreadDisks)))
}

// remarkInUse names what uses objects that are to be deleted.
func (p Plan) remarkInUse() []remark {
	var all []remark
	for _, k := range p.InUse {
		if n := len(k.Users); n > 0 {
			all = append(all, p.about(fmt.Sprintf("%s is kept by finalizer %s: %s %s it",
				KindName(p.Graph.Ref(k.Object)), Escape(k.Finalizer), few(KindNames(k.Users...)),
				phrase.Plural(n, "uses", "use")), k.Object))
		}
	}
	return all
}

// remarkCollector says that nobody does the collector's part.
func (p Plan) remarkCollector() []remark {
	if len(p.CollectorStopped) == 0 {
		return nil
	}
	return []remark{{text: Escape("the garbage collector does not run ("+strings.Join(p.CollectorStopped, "; ")+
		"): what is its to delete stays until it does") + "; --gc=client deletes it from here"}}
}

// remarkNamespacesStopped says that nobody empties the namespaces.
func (p Plan) remarkNamespacesStopped() []remark {
	if len(p.NamespacesStopped) == 0 {
		return nil
	}
	ids := p.DeletedOf("", "namespaces")
	return []remark{p.about(fmt.Sprintf("the namespace controller does not run (%s): %s and the objects in %s stay until it does",
		Escape(strings.Join(p.NamespacesStopped, "; ")), few(KindNamesOf(p.Graph, ids)), phrase.Plural(len(ids), "it", "them")),
		ids...)}
}

// remarkIdle names the finalizers that nobody removes as things are, and what keeps their actors from
// that.
func (p Plan) remarkIdle() []remark {
	var names []string
	var about []graph.Ref
	until := "it is started"
	for _, i := range p.Idle {
		if i.Paused || i.Obstacle == v1alpha1.ActorNotFound {
			continue
		}
		about = append(about, i.Object)
		is := map[v1alpha1.Obstacle]string{
			v1alpha1.NotLeading:        "has no leader",
			v1alpha1.NotPermitted:      "may not remove it",
			v1alpha1.NotWatching:       "leaves " + KindName(i.Object) + " alone",
			v1alpha1.DependencyMissing: "lacks what it needs",
		}[i.Obstacle]
		if is == "" {
			is = "is not running"
		} else {
			until = "that changes"
		}
		names = append(names, fmt.Sprintf("%s of %s, which %s (%s)", Escape(i.Finalizer), Escape(i.Actor), is,
			Escape(strings.Join(i.Evidence, "; "))))
	}
	if len(names) == 0 {
		return nil
	}
	return []remark{{"waits for " + phrase.And(names) + ": not removed until " + until, about}}
}

// remarkNotFound names the finalizers whose actors were not found.
func (p Plan) remarkNotFound() []remark {
	var names []string
	var about []graph.Ref
	for _, i := range p.Idle {
		if i.Obstacle == v1alpha1.ActorNotFound {
			about = append(about, i.Object)
			names = append(names, fmt.Sprintf("%s of %s", Escape(i.Finalizer), Escape(i.Actor)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []remark{{fmt.Sprintf("waits for %s, which %s not found in the cluster: it may have been uninstalled, or run under another name",
		phrase.And(names), phrase.Plural(len(names), "was", "were")), about}}
}

// remarkUnexamined says of how many finalizers nothing is known of those who remove them.
func (p Plan) remarkUnexamined() []remark {
	if p.Unexamined == 0 {
		return nil
	}
	return []remark{{text: "not examined: whether the controllers of " + phrase.Count(p.Unexamined, "more finalizer") + " run"}}
}

// remarkPaused names the objects that are not gone until somebody ends their pause.
func (p Plan) remarkPaused() []remark {
	var all []remark
	type pause struct{ actor, evidence string }
	paused := slices.DeleteFunc(slices.Clone(p.Idle), func(i v1alpha1.IdleActor) bool { return !i.Paused })
	for of, objects := range groups(paused, func(i v1alpha1.IdleActor) (pause, graph.Ref) {
		return pause{i.Actor, strings.Join(i.Evidence, "; ")}, i.Object
	}) {
		all = append(all, remark{fmt.Sprintf("waits for %s: paused (%s), and ignored by %s until the pause ends",
			few(KindNames(objects...)), Escape(of.evidence), Escape(of.actor)), objects})
	}
	return all
}
