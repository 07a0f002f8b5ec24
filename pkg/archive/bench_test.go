package archive

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const many = 50_000

// manyObjects are the plan of a deletion of 50,000 objects, and a spool with their documents, of 2
// KB each.
func manyObjects(tb testing.TB) (*v1alpha1.Plan, []graph.ID, *spool) {
	tb.Helper()
	s, err := newSpool(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.remove)
	archived := many
	p := &v1alpha1.Plan{TypeMeta: v1alpha1.TypeMeta("Plan"), Policy: "Background", Complete: true, Gaps: []v1alpha1.Gap{},
		Archived: &archived}
	ids := make([]graph.ID, many)
	text := strings.Repeat("some text in an object ", 80)
	for i := range ids {
		ids[i] = graph.ID(i)
		ref := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "shop",
			Name: fmt.Sprintf("object-%05d", i), UID: fmt.Sprintf("11111111-0000-4000-8000-%012d", i)}
		p.Deleted = append(p.Deleted, ref)
		p.Actions = append(p.Actions, v1alpha1.Action{Verb: "delete", Object: ref, Policy: "Background", Wave: 2,
			By: "collector", Because: "ConfigMap/owner is deleted", Reason: "OwnersGone"})
		doc, err := document(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"text": text},
			"metadata": map[string]any{"name": ref.Name, "namespace": "shop", "uid": ref.UID, "resourceVersion": "1"},
		})
		if err == nil {
			err = s.add(ids[i], doc, copied{})
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return p, ids, s
}

// peak calls f and returns how much the heap had in use at most while it ran, beyond what it had
// before, in bytes.
func peak(f func()) uint64 {
	var before, m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapInuse))
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most.Load() - min(most.Load(), before.HeapInuse)
}

// BenchmarkArchive50k writes and reads an archive of 50,000 objects, plain and compressed, and says
// how much memory that takes at most.
func BenchmarkArchive50k(b *testing.B) {
	p, ids, s := manyObjects(b)
	for _, name := range []string{"archive.yaml", "archive.yaml.gz"} {
		path := filepath.Join(b.TempDir(), name)
		b.Run("write/"+name, func(b *testing.B) {
			var most uint64
			for b.Loop() {
				file, err := os.Create(path)
				if err != nil {
					b.Fatal(err)
				}
				most = max(most, peak(func() {
					err = compressed(file, path, func(w io.Writer) error { return write(w, ids, s, p) })
				}))
				if err != nil || file.Close() != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(most)/(1<<20), "MiB-peak")
		})
		b.Run("verify/"+name, func(b *testing.B) {
			var most uint64
			for b.Loop() {
				var summary *Summary
				var err error
				most = max(most, peak(func() { summary, err = Verify(path) }))
				if err != nil || len(summary.Objects) != many || summary.Damage != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(most)/(1<<20), "MiB-peak")
		})
	}
}
