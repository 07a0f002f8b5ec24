package collect

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// explainByTiming has the collector do again, three times, what ended differently. What does not
// always end alike there depends on its timing.
func (tw *twins) explainByTiming(t *testing.T) {
	t.Helper()
	ends := map[*difference][][]string{}
	for _, prefix := range []string{"da", "db", "dc"} {
		for _, d := range tw.unexplained {
			ends[d] = append(ends[d], tw.replay(t, prefix, d))
		}
	}
	for _, d := range tw.unexplained {
		if slices.ContainsFunc(ends[d], func(end []string) bool { return !slices.Equal(end, d.theirs) }) {
			tw.named["timing"]++
			t.Logf("seed %d: timing", d.seed)
			continue
		}
		t.Errorf("seed %d: (-collector +loop)\n%s\nat first:\n%s", d.seed, cmp.Diff(d.theirs, d.ours),
			strings.Join(d.start, "\n"))
	}
}

// replay has the collector do again what it did in one comparison, and returns what it leaves.
func (tw *twins) replay(t *testing.T, prefix string, d *difference) []string {
	t.Helper()
	ctx := t.Context()
	b := batches(prefix, d.seed, 1, 1)[0]
	// objects that remain only make later listings longer
	defer func() { _ = tw.theirs.Wipe(context.Background(), b.namespaces()) }()
	if err := b.create(ctx, tw.theirs); err != nil {
		t.Fatal(err)
	}
	tw.collector.StartControllers(t, testcluster.Collector)
	defer tw.collector.StopControllers(t)
	tr := b[0]
	left := tw.settle(t, b, nil, nil)
	if d.second {
		graphs, err := tw.theirs.ListAll(ctx)
		if err != nil {
			t.Fatal(err)
		}
		g := graphs[tr.namespace]
		policy := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}[tr.rng.IntN(3)]
		if err := deleteRoots(ctx, tw.theirs,
			plan.New(g, randomcluster.Roots(g, tr.namespace, tr.rng.IntN), policy, plan.Options{Rules: plan.Loop})); err != nil {
			t.Fatal(err)
		}
		left = tw.settle(t, b, map[string]bool{tr.namespace: tr.rng.IntN(2) == 0}, nil)
	}
	return left[tr.namespace]
}
