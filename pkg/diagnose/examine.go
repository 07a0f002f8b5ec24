package diagnose

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Options say what to examine and how.
type Options struct {
	// Known is what is known of finalizers.
	Known *finalizer.Registry
	// OlderThan leaves out what is being deleted for less than that, unless it is asked about by name.
	OlderThan time.Duration
	// Probe allows to write a canary: an object that a collector at work deletes at once.
	Probe bool
	// NoDryRun sends no dry runs, which call webhooks: whether the server would refuse a write is then only known where something protects an object.
	NoDryRun bool
	// Progress, if not nil, is called as objects are looked at, from several goroutines but not at the same time: how many of how many, and what they are.
	Progress func(done, total int, what string)

	limits limits
}

// Snapshot is what the cluster was seen to be before the examination.
type Snapshot struct {
	Catalog *cluster.Catalog
	Graph   *graph.Graph
	Gaps    []v1alpha1.Gap

	// links are the rules and, once they were followed, the links of packs of the definitions; unlinked are the gaps in which other links can be.
	links       *link.Links
	definitions []*link.Definition
	unlinked    []v1alpha1.Gap
}

// Subjects are what to explain.
type Subjects struct {
	// Observed are objects of the snapshot by name, and Hidden those that lie in a gap.
	Observed []graph.ID
	Hidden   []Hidden
	// In selects, if nothing is named, among all that is being deleted; nil selects all.
	In func(graph.ID) bool
}

// Hidden is an object that was asked about and could not be seen.
type Hidden struct {
	Object v1alpha1.ObjectRef
	Gap    v1alpha1.Gap
}

// Examine explains objects. The error is that of a context that ended.
func Examine(ctx context.Context, client *cluster.Client, s Snapshot, of Subjects, opts Options) (*v1alpha1.Diagnosis, error) {
	if s.links == nil {
		var err error
		if s, _, err = s.follow(ctx, client, "", of, opts.Known); err != nil {
			return nil, err
		}
	}
	e := newExaminer(client, s, opts)
	ids := of.Observed
	if len(of.Observed)+len(of.Hidden) == 0 {
		ids = e.stuck(ctx, of.In)
	}
	e.many = len(ids) > maxByName
	for _, id := range ids {
		e.linked.subjects[id] = true
	}
	if err := e.lookAhead(ctx, ids); err != nil {
		return nil, err
	}
	d := &v1alpha1.Diagnosis{TypeMeta: v1alpha1.TypeMeta("Diagnosis"), Stuck: []v1alpha1.Stuck{}, Gaps: append(append([]v1alpha1.Gap{}, s.Gaps...), s.unlinked...)}
	for _, h := range of.Hidden {
		findings := found(graph.Ref(h.Object), e.unlisted.gap(ctx, h.Gap)...)
		d.Stuck = append(d.Stuck, printed(v1alpha1.Stuck{Object: h.Object, Finalizers: []string{}}, findings, gapClauses([]v1alpha1.Gap{h.Gap})))
	}
	explained := make([][]finding, len(ids))
	for i, id := range ids {
		explained[i] = behind(e.Graph.Ref(id), e.causes(ctx, id))
	}
	if err := e.collector.compare(ctx, explained); err != nil {
		return nil, err
	}
	for i, id := range ids {
		d.Stuck = append(d.Stuck, e.explain(ctx, id, explained[i]))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d.NotLookedAt = len(e.sampled) + e.refusal.tries.left
	d.Gaps = append(d.Gaps, e.reader.Unread(d.Gaps)...)
	d.Complete = len(d.Gaps) == 0
	return d, nil
}

// examiner explains the objects of one snapshot. It is used by one goroutine, but for what reads ahead.
type examiner struct {
	*core
	olderThan time.Duration
	// settled are the findings of objects that were looked at, and looking those of which the examination has not ended.
	settled map[graph.ID][]finding
	looking map[graph.ID]bool
	looks   looks

	refusal    *refusal
	unlisted   *unlisted
	finalizers *finalizers
	collector  *collector
	linked     *linked
	workloads  *workloads
	storage    *storage
}

func newExaminer(client *cluster.Client, s Snapshot, opts Options) *examiner {
	c := newCore(client, s, opts)
	e := &examiner{
		core: c, olderThan: opts.OlderThan,
		settled: map[graph.ID][]finding{}, looking: map[graph.ID]bool{}, looks: newLooks(),
		refusal: newRefusal(c), workloads: &workloads{core: c},
	}
	c.causes, c.byActor = e.explained, e.removes
	e.storage = &storage{c, e.workloads}
	e.unlisted = &unlisted{c, e.refusal}
	e.finalizers = &finalizers{c, e.refusal}
	e.collector = newCollector(c, e.refusal, opts.Probe)
	e.linked = &linked{c, e.refusal, map[graph.ID]bool{}}
	return e
}

// stuck returns what is being deleted for long enough, and what was left behind in a namespace that does not exist.
func (e *examiner) stuck(ctx context.Context, in func(graph.ID) bool) []graph.ID {
	var ids []graph.ID
	stray := e.strays(ctx)
	for i := range e.Graph.Len() {
		id := graph.ID(i)
		if !e.Graph.Observed(id) {
			continue // the end of a link that is not there
		}
		due := e.Graph.DeletionTimestamp(id) != 0 && e.past(id) >= e.olderThan
		if (in == nil || in(id)) && (due || stray(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// explain is what is printed of one object.
func (e *examiner) explain(ctx context.Context, id graph.ID, findings []finding) v1alpha1.Stuck {
	s := v1alpha1.Stuck{Sampled: e.sampled[id], Object: v1alpha1.ObjectRef(e.Graph.Ref(id)), Finalizers: append([]string{}, e.Graph.Finalizers(id)...)}
	if at := e.Graph.DeletionTimestamp(id); at != 0 {
		s.Since = &metav1.Time{Time: time.Unix(at, 0)}
	}
	return printed(s, e.storage.dataFirst(ctx, id, e.withPermissions(ctx, distinct(findings))), e.checked(id))
}

// printed completes what is printed of one object: its causes in the order in which they come up.
func printed(s v1alpha1.Stuck, findings []finding, checked []string) v1alpha1.Stuck {
	s.Causes = []v1alpha1.Cause{}
	slices.SortStableFunc(findings, inOrder)
	stage := 0
	for i, f := range findings {
		if i > 0 && f.after > findings[i-1].after {
			stage++
		}
		c := f.cause()
		c.After = stage
		s.Causes = append(s.Causes, c)
	}
	if len(findings) == 0 {
		s.Checked = checked
	}
	return s
}

// checked says what was looked at, for an object that nothing was found for.
func (e *examiner) checked(id graph.ID) []string {
	checked := []string{"whether it is still there"}
	for _, f := range e.Graph.Finalizers(id) {
		if e.noDryRun {
			checked = append(checked, "who removes finalizer "+f)
			continue
		}
		checked = append(checked, "who removes finalizer "+f+", and whether the server would accept that")
	}
	return append(checked, "what waits for it, and what it waits for, in the types that could be listed")
}
