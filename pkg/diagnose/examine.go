package diagnose

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/finalizers"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/storage"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/workloads"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
)

// Options say what to examine and how.
type Options struct {
	// Known is what is known of finalizers.
	Known *finalizer.Registry
	// OlderThan leaves out what is being deleted for less than that, unless it is asked about by
	// name.
	OlderThan time.Duration
	// Probe allows to write a canary: an object that a collector at work deletes at once.
	Probe bool
	// NoDryRun sends no dry runs, which call webhooks: whether the server would refuse a write is
	// then only known where something protects an object.
	NoDryRun bool
	// Progress, if not nil, is called as objects are looked at, from several goroutines but not at
	// the same time: how many of how many, and what they are.
	Progress func(done, total int, what string)

	limits core.Limits
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
func Examine(ctx context.Context, client *cluster.Client, s core.Snapshot, of Subjects,
	opts Options) (*v1alpha1.Diagnosis, error) {
	if s.Links == nil {
		var err error
		if s, _, err = follow(ctx, client, s, "", of, opts.Known); err != nil {
			return nil, err
		}
	}
	e := newExaminer(client, s, opts)
	ids, younger := of.Observed, 0
	if len(of.Observed)+len(of.Hidden) == 0 {
		ids, younger = e.stuck(ctx, of.In)
	}
	e.Many = len(ids) > core.MaxByName
	e.linked.subjects = graph.SetOf(ids)
	if err := e.lookAhead(ctx, ids); err != nil {
		return nil, err
	}
	d := &v1alpha1.Diagnosis{TypeMeta: v1alpha1.TypeMeta("Diagnosis"), Stuck: []v1alpha1.Stuck{},
		Gaps: append(append([]v1alpha1.Gap{}, s.Gaps...), s.Unlinked...)}
	for _, h := range of.Hidden {
		findings := core.Found(h.Object, e.unlisted.gap(ctx, h.Gap)...)
		d.Stuck = append(d.Stuck, printed(v1alpha1.Stuck{Object: h.Object, Finalizers: []string{}}, findings,
			actor.GapClauses(h.Gap)))
	}
	explained := make([][]core.Finding, len(ids))
	for i, id := range ids {
		explained[i] = core.Behind(e.Graph.Ref(id), e.Causes(ctx, id))
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
	d.Younger, d.NotLookedAt = younger, len(e.Sampled)+e.refusal.Tries.Left
	d.Gaps = append(d.Gaps, e.Reader.Unread(d.Gaps)...)
	if len(d.Stuck) > 0 && client.IsStill() {
		d.Gaps = append(d.Gaps, unanswered)
	}
	d.Complete = len(d.Gaps) == 0
	return d, nil
}

// unanswered is what a dump cannot answer about an object that is stuck.
var unanswered = v1alpha1.Gap{Resource: "admissionreviews", Group: "admission.k8s.io", Reason: v1alpha1.GapNotSaved,
	Message: "only a cluster says whether a webhook or a policy rejects what a controller writes"}

// examiner explains the objects of one snapshot. It is used by one goroutine, but for what reads
// ahead.
type examiner struct {
	*core.Examination
	opts Options
	// settled are the findings of objects that were looked at, and looking those of which the
	// examination has not ended.
	settled map[graph.ID][]core.Finding
	looking map[graph.ID]bool
	// ahead are the objects in the way of others whose content was looked at side by side.
	ahead map[graph.ID]bool
	looks core.Sample[string, looked]
	// renewed is when a Lease was renewed last; nil before that was looked at.
	renewed *time.Time

	refusal    *refusal.Examiner
	unlisted   *unlisted
	finalizers *finalizers.Examiner
	collector  *collector
	linked     *linked
	workloads  *workloads.Examiner
	storage    *storage.Examiner
}

func newExaminer(client *cluster.Client, s core.Snapshot, opts Options) *examiner {
	reader := cluster.NewReader(client, s.Catalog)
	if opts.Known != nil {
		client = ownership.Guarded(client, reader, opts.Known.Links())
	}
	c := core.New(client, reader, s, opts.Known)
	c.NoDryRun, c.Limits = opts.NoDryRun || c.Client.IsStill(), opts.limits.OrUsual()
	e := &examiner{
		Examination: c, opts: opts,
		settled: map[graph.ID][]core.Finding{}, looking: map[graph.ID]bool{}, ahead: map[graph.ID]bool{},
		refusal: refusal.New(c), workloads: workloads.New(c),
	}
	c.Causes, c.ByActor = e.explained, e.removes
	e.storage = storage.New(c, e.workloads)
	e.unlisted = &unlisted{c, e.refusal}
	e.finalizers = finalizers.New(c, e.refusal)
	e.collector = newCollector(c, e.refusal, opts)
	e.linked = &linked{c, e.refusal, map[graph.ID]bool{}}
	return e
}

// stuck returns what is being deleted for long enough, and what was left behind in a namespace that
// does not exist; and how many others are being deleted.
func (e *examiner) stuck(ctx context.Context, in func(graph.ID) bool) (ids []graph.ID, younger int) {
	stray := e.strays(ctx)
	ids = slices.DeleteFunc(slices.Collect(e.Graph.IDs()), func(id graph.ID) bool {
		// unobserved is the end of a link that is not there
		if !e.Graph.Observed(id) || in != nil && !in(id) {
			return true
		}
		goes := e.goes(id)
		if goes && e.Past(id) >= e.opts.OlderThan || stray(id) {
			return false
		}
		if goes {
			younger++
		}
		return true
	})
	return ids, younger
}

// explain is what is printed of one object.
func (e *examiner) explain(ctx context.Context, id graph.ID, findings []core.Finding) v1alpha1.Stuck {
	s := v1alpha1.Stuck{Sampled: e.Sampled[id], Object: e.Graph.Ref(id),
		Finalizers: append([]string{}, e.Graph.Finalizers(id)...)}
	if at := e.Graph.DeletionTimestamp(id); at != 0 {
		s.Since = &metav1.Time{Time: time.Unix(at, 0)}
	}
	permitted := e.withPermissions(ctx, core.AtOnce(core.Distinct(findings)))
	return printed(s, e.storage.DataFirst(ctx, id, permitted), e.checked(id))
}

// printed completes what is printed of one object: its causes in the order in which they come up.
func printed(s v1alpha1.Stuck, findings []core.Finding, checked []string) v1alpha1.Stuck {
	s.Causes = []v1alpha1.Cause{}
	slices.SortStableFunc(findings, core.InOrder)
	stage := 0
	for i, f := range findings {
		if i > 0 && f.After > findings[i-1].After {
			stage++
		}
		c := f.Printed()
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
		check := "who removes finalizer " + f
		if !e.NoDryRun {
			check += ", and whether the server would accept that"
		}
		checked = append(checked, check)
	}
	return append(checked, "what waits for it, and what it waits for, in the types that could be listed")
}
