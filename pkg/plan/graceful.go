package plan

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Pod is what decides how long a pod is still there after its deletion (API-018).
type Pod struct {
	// Node is its nodeName, whose kubelet has to end it; empty if it has none.
	Node string
	// Ended says that its phase is Succeeded or Failed.
	Ended bool
	// GracePeriodSeconds is its terminationGracePeriodSeconds or, of one that is being deleted, its
	// deletionGracePeriodSeconds.
	GracePeriodSeconds int64
	// Requests are what it requests of its node, by resource.
	Requests map[string]resource.Quantity
}

// grace is how many seconds the pod may stay, 0 if it is gone at once; requested is the period that
// its delete carries.
func (pod Pod) grace(deleting bool, requested *int64) int64 {
	period := pod.GracePeriodSeconds
	switch {
	case requested != nil && deleting: // which can only shorten it
		period = min(period, *requested)
	case requested != nil:
		period = *requested
	}
	switch {
	case pod.Node == "", pod.Ended && !deleting:
		return 0
	case period < 0:
		return 1
	}
	return period
}

// learnNodes leaves out of the nodes that are not heard from the pods that are gone at once.
func (p *Plan) learnNodes() {
	waits := map[graph.ID]bool{}
	for _, b := range p.Blockers {
		waits[b.Object] = b.GracePeriodSeconds > 0
	}
	nodes := p.SilentNodes
	p.SilentNodes = nil
	for _, n := range nodes {
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(id graph.ID) bool { return !waits[id] })
		if len(n.Pods) > 0 {
			p.SilentNodes = append(p.SilentNodes, n)
		}
	}
}

// learnPods adds the pods that terminate gracefully to what holds the cascade up.
func (p *Plan) learnPods(f Details) {
	at := make(map[graph.ID]int, len(p.Blockers))
	for i, b := range p.Blockers {
		at[b.Object] = i
	}
	roots, forced := newSet(p.Graph, p.Roots), p.forced()
	for id, pod := range f.Pods {
		var sent *int64
		switch {
		case roots[id]:
			sent = f.GracePeriodSeconds
		case f.Propagated && f.GracePeriodSeconds != nil:
			pod.GracePeriodSeconds = min(pod.GracePeriodSeconds, *f.GracePeriodSeconds)
		}
		if forced[id] {
			continue
		}
		grace := pod.grace(p.Graph.State(id) == graph.Deleting, sent)
		if grace == 0 {
			continue
		}
		if i, known := at[id]; known {
			p.Blockers[i].GracePeriodSeconds = grace
		} else {
			p.Blockers = append(p.Blockers, Blocker{Object: id, GracePeriodSeconds: grace})
		}
	}
	slices.SortFunc(p.Blockers, func(a, b Blocker) int { return cmp.Compare(a.Object, b.Object) })
}

// forced are the objects that a program deletes because of a link, without a grace period, and that
// are not deleted before because of an owner or their namespace.
func (p *Plan) forced() map[graph.ID]bool {
	forced := map[graph.ID]bool{}
	for _, a := range p.Actions {
		f, ok := p.Link(a.Object, a.Because)
		if !ok || a.Because.Code != LinkDeleted || !f.Definition.Deletion.Force || len(p.lost(a.Object)) > 0 {
			continue
		}
		forced[a.Object] = true
		for e := range p.Graph.Owners(a.Object) {
			forced[a.Object] = forced[a.Object] && p.stays(e.Owner)
		}
	}
	return forced
}

// Blocker returns what holds an object of the cascade up.
func (p *Plan) Blocker(id graph.ID) (Blocker, bool) {
	i, ok := slices.BinarySearchFunc(p.Blockers, id, func(b Blocker, id graph.ID) int { return cmp.Compare(b.Object, id) })
	if !ok {
		return Blocker{}, false
	}
	return p.Blockers[i], true
}
