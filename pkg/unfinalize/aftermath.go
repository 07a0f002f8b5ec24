package unfinalize

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Aftermath is what follows when an object is gone because its finalizers were removed.
type Aftermath struct {
	// Deleted are the other objects that are deleted then, PersistentVolumeClaims first.
	Deleted []graph.Ref
	// Stopped says by what it is known that the garbage collector, which deletes them, does not run;
	// nil if it runs, or if that is not known.
	Stopped []string
	// Disks are the volumes whose data are destroyed with a claim: with the object itself, or one
	// of those that follow.
	Disks []v1alpha1.Disk
	// Unread are the claims among them of which it is not known whether a volume's data are
	// destroyed, and Why the first error.
	Unread []graph.Ref
	Why    error
	// Gaps can hide objects that follow, and Unlisted says that the object was not in the listing:
	// then nothing is known of what follows.
	Gaps     []v1alpha1.Gap
	Unlisted bool
}

// Foresee finds out what follows from candidates that are carried out together, and refuses what
// destroys data. It lists what can depend on the objects once for all of them, and reads the
// volumes of the claims among what follows. Of a namespace it is its content that counts, which
// an Emptiness is about.
func (j *Assessor) Foresee(ctx context.Context, candidates []*Candidate) error {
	candidates = slices.DeleteFunc(slices.Clone(candidates),
		func(c *Candidate) bool { return !deleting(c.Object) || !c.writes() || isNamespace(c.Object) })
	if len(candidates) == 0 {
		return nil
	}
	namespace, among := scope(candidates)
	s, err := j.survey(ctx, namespace, among...)
	if err != nil {
		return err
	}
	byID := map[graph.ID]*Candidate{}
	var releases []plan.Release
	for _, c := range candidates {
		id, listed := s.Graph.Lookup(c.Ref.UID)
		if twin := byID[id]; listed && twin != nil { // the same object was named twice
			c.details.After = twin.details.After
			continue
		}
		c.details.After = &Aftermath{Gaps: s.Graph.Hiding(s.Gaps, c.Ref), Unlisted: !listed || !s.Graph.Observed(id)}
		if !c.details.After.Unlisted {
			byID[id] = c
			releases = append(releases, c.release(id))
		}
	}
	after := plan.NewAftermath(s.Graph, releases, plan.Options{})
	for _, id := range after.Follows {
		if cause, known := after.Cause(id); known {
			a := byID[cause].details.After
			a.Deleted = append(a.Deleted, s.Graph.Ref(id))
		}
	}
	if len(after.Follows) > 0 {
		stopped, err := j.lives.Stopped(ctx)
		if err != nil {
			return err
		}
		for _, c := range candidates {
			c.details.After.Stopped = stopped
		}
	}
	j.disks(ctx, s.reader, candidates)
	for _, c := range candidates {
		for i := range c.Assessments {
			if v := &c.Assessments[i]; v.Method != "" {
				known := v.Refusals
				v.Refusals = nil
				v.needData(c.Object, c.Names, c.details) // which come first, as in Assess
				v.Refusals = append(v.Refusals, known...)
			}
		}
	}
	return context.Cause(ctx)
}

// writes reports whether anything can be done about the object at all.
func (c *Candidate) writes() bool {
	return slices.ContainsFunc(c.Assessments, func(v Assessment) bool { return v.Method != "" })
}

// scope is the namespace in which everything is that can depend on the objects, or the cluster, as
// empty, and the namespaces of the objects.
func scope(candidates []*Candidate) (string, []string) {
	namespaces := phrase.Words(candidates, func(c *Candidate) string { return c.Ref.Namespace })
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	if len(namespaces) == 1 {
		return namespaces[0], nil
	}
	return "", slices.DeleteFunc(namespaces, func(ns string) bool { return ns == "" })
}

// release is what the candidate does, as a plan takes it.
func (c *Candidate) release(id graph.ID) plan.Release {
	r := plan.Release{Object: id}
	for _, v := range c.Assessments {
		r.Orphans = r.Orphans || v.Method == ByOrphaning
		r.Background = r.Background || v.Name == plan.ForegroundFinalizer && v.Method != ""
	}
	return r
}

// disks finds the volumes of the claims that go, of all candidates in one go, and puts the claims
// first.
func (j *Assessor) disks(ctx context.Context, reader *cluster.Reader, candidates []*Candidate) {
	claims := map[string]*Candidate{}
	var all []graph.Ref
	for _, c := range candidates {
		slices.SortStableFunc(c.details.After.Deleted, func(a, b graph.Ref) int { return cmp.Compare(rank(a), rank(b)) })
		for _, ref := range append([]graph.Ref{c.Ref}, c.details.After.Deleted...) {
			if isClaim(ref) && claims[ref.UID] == nil {
				claims[ref.UID] = c
				all = append(all, ref)
			}
		}
	}
	if len(all) == 0 {
		return
	}
	bound, failed := reader.Volumes(ctx, all, len(all))
	for _, ref := range all {
		a := claims[ref.UID].details.After
		if volume := bound[ref.UID]; volume != nil {
			if disk := status.Disk(volume); disk.Destroyed() {
				a.Disks = append(a.Disks, disk)
			}
		}
		if err := failed[ref.UID]; err != nil {
			a.Unread, a.Why = append(a.Unread, ref), cmp.Or(a.Why, err)
		}
	}
}

// rank puts data first.
func rank(ref graph.Ref) int {
	if isClaim(ref) {
		return 0
	}
	return 1
}

func isClaim(ref graph.Ref) bool { return ref.Resource == cluster.PVCs.Resource && ref.Group() == "" }

// released reports whether nothing but the collector holds an object that is being deleted, once
// the names are removed.
func released(o *unstructured.Unstructured, names []string) bool {
	if !deleting(o) || grace(o) > 0 {
		return false
	}
	return !slices.ContainsFunc(finalizersOn(o), func(h FinalizerRef) bool {
		return !slices.Contains(names, h.Name) && !plan.IsCollectors(h.Name)
	})
}
