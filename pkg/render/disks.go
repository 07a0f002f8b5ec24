package render

import (
	"fmt"
	"maps"
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
		p.few(p.UnreadDisks))
}

// remarkInUse names what uses objects that are to be deleted.
func (p Plan) remarkInUse() []remark {
	var all []remark
	for _, k := range p.InUse {
		if n := len(k.Users); n > 0 {
			all = append(all, p.about(fmt.Sprintf("%s is kept by finalizer %s: %s %s it",
				KindName(p.Graph.Ref(k.Object)), Escape(k.Finalizer), few(kindNames(k.Users...)),
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
		Escape(strings.Join(p.NamespacesStopped, "; ")), p.few(ids), phrase.Plural(len(ids), "it", "them")),
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
		names = append(names, fmt.Sprintf("%s, which %s (%s)", work(i), is, Escape(strings.Join(i.Evidence, "; "))))
	}
	if len(names) == 0 {
		return nil
	}
	return []remark{{"waits for " + phrase.And(names) + ": not removed until " + until, about}}
}

// work names what an actor does not do: its finalizer, or the deletion of an object.
func work(i v1alpha1.IdleActor) string {
	what := Escape(i.Finalizer) + " of "
	if i.Finalizer == "" {
		what = "the deletion of " + Escape(i.Object.Located()) + " by "
	}
	return what + Escape(i.Actor)
}

// remarkNotFound names the finalizers whose actors were not found.
func (p Plan) remarkNotFound() []remark {
	var names []string
	var about []graph.Ref
	for _, i := range p.Idle {
		if i.Obstacle == v1alpha1.ActorNotFound {
			about = append(about, i.Object)
			names = append(names, work(i))
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
			few(kindNames(objects...)), Escape(of.evidence), Escape(of.actor)), objects})
	}
	return all
}

// remarkFreed sums up what no longer holds or asks for something.
func (p Plan) remarkFreed() []remark {
	f := p.Freed
	if f == nil {
		return nil
	}
	var parts []string
	if len(f.Requests) > 0 {
		parts = append(parts, strings.Join(requestTexts(f.Requests), ", ")+" requested by "+phrase.Count(f.Pods, "pod"))
	}
	for _, s := range f.Storage {
		parts = append(parts, storageText(s))
	}
	if len(f.DNSNames) > 0 {
		names := phrase.Words(f.DNSNames, func(name string) string { return cut(name, maxOutside) })
		parts = append(parts, phrase.Count(len(names), "DNS name")+" ("+few(names)+")")
	}
	if f.Certificates > 0 {
		parts = append(parts, phrase.Count(f.Certificates, "certificate"))
	}
	switch n := len(f.Unread); {
	case len(parts) == 0 && len(p.UnreadNaming) == 0: // other remarks are about pods and volumes that were not read
		return nil
	case len(parts) == 0:
		return []remark{{text: "it is unknown what this frees: " + phrase.Count(n, "object") + " could not be read"}}
	case n > 0:
		parts = append(parts, phrase.Count(n, "more object")+" could not be read")
	}
	frees := "frees "
	if len(p.Gaps) > 0 {
		frees += "at least "
	}
	return []remark{{text: Escape(frees + strings.Join(parts, "; "))}}
}

// requestTexts are requests in words, cpu and memory first: "2500m cpu".
func requestTexts(of map[string]string) []string {
	names := slices.Sorted(maps.Keys(of))
	first := func(name string) bool { return name == "cpu" || name == "memory" }
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case first(a) == first(b):
			return strings.Compare(a, b)
		case first(a):
			return -1
		}
		return 1
	})
	return phrase.Words(names, func(name string) string { return of[name] + " " + name })
}

// storageText says what becomes of the volumes of a storage class.
func storageText(s v1alpha1.FreedStorage) string {
	of := phrase.Count(s.Volumes, "volume") + " without a storage class"
	if s.StorageClass != "" {
		of = phrase.Count(s.Volumes, "volume") + " of storage class " + s.StorageClass
	}
	var becomes []string
	if s.Destroyed != "" {
		becomes = append(becomes, s.Destroyed+" destroyed")
	}
	if s.Kept != "" {
		becomes = append(becomes, s.Kept+" kept")
	}
	if len(becomes) == 0 {
		return of
	}
	return of + " (" + strings.Join(becomes, ", ") + ")"
}

// maxOutside is how many columns of the name of a thing outside the cluster are written: an annotation
// can be long.
const maxOutside = 160

// remarkOutside names the things outside the cluster for which deleted objects stand, by what they
// are.
func (p Plan) remarkOutside() []remark {
	type key struct {
		is    string
		stays bool
	}
	var all []remark
	for of, things := range groups(p.Outside, func(o v1alpha1.Outside) (key, v1alpha1.Outside) {
		return key{o.Is, o.Stays}, o
	}) {
		stays := ""
		if of.stays {
			stays = phrase.Plural(len(things), ", which stays", ", which stay")
		}
		names := phrase.Words(things, func(o v1alpha1.Outside) string { return cut(o.Name, maxOutside) })
		r := remark{text: Escape("outside the cluster: " + phrase.Count(len(things), of.is) +
			" (" + few(names) + ")" + stays)}
		for _, o := range things {
			r.objects = append(r.objects, o.Object)
		}
		all = append(all, r)
	}
	if n := len(p.UnreadOutside); n > 0 {
		what := "object"
		if len(all) > 0 {
			what = "more object"
		}
		all = append(all, remark{text: "outside the cluster: " + phrase.Count(n, what) + " could not be read",
			objects: p.Graph.Refs(p.UnreadOutside)})
	}
	return all
}
