package env

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestRowsGoToThePartitionOfTheirClusterAndDay in UTC, one file for each answer, which only its owner
// can read.
func TestRowsGoToThePartitionOfTheirClusterAndDay(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "rows")
	o := &Output{rows: true, command: "why", out: folder}
	var out, says bytes.Buffer
	late := time.Date(2026, 1, 2, 23, 30, 5, 0, time.FixedZone("west", -2*60*60))
	for _, uid := range []string{"11111111-0000-4000-8000-000000000001", "", "", "11111111-0000-4000-8000-000000000001"} {
		rows := []v1alpha1.Row{{Row: "cluster", ClusterUID: uid, ObservedAt: metav1.NewTime(late)}, {Row: "cause"}}
		if err := o.WriteRows(&out, &says, rows); err != nil {
			t.Fatal(err)
		}
	}
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %s, want %s", path, info.Mode().Perm(), want)
		}
		if !d.IsDir() {
			text, err := os.ReadFile(path)
			if err != nil || bytes.Count(text, []byte("\n")) != 2 || !strings.Contains(says.String(), "Wrote 2 rows to "+path+"\n") {
				t.Errorf("%s: %q, %v; stderr %s", path, text, err, says.String())
			}
			name, _ := filepath.Rel(folder, path)
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	want := []string{"cluster=11111111-0000-4000-8000-000000000001/date=2026-01-03/why-20260103T013005Z-2.ndjson",
		"cluster=11111111-0000-4000-8000-000000000001/date=2026-01-03/why-20260103T013005Z.ndjson",
		"cluster=unknown/date=2026-01-03/why-20260103T013005Z-2.ndjson", "cluster=unknown/date=2026-01-03/why-20260103T013005Z.ndjson"}
	if err != nil || !slices.Equal(files, want) || out.Len() != 0 {
		t.Errorf("%q, %v, want %q; stdout %q", files, err, want, out.String())
	}
}

// TestAUIDThatLeadsElsewhereNamesNoFolder: it comes from a server.
func TestAUIDThatLeadsElsewhereNamesNoFolder(t *testing.T) {
	t.Parallel()
	for _, uid := range []string{"../x", "..", ".", "a/b", `a\b`, "a b", "a=b", "x\x00", "x\n", "é", strings.Repeat("a", 65)} {
		folder := t.TempDir()
		o := &Output{rows: true, command: "why", out: filepath.Join(folder, "rows")}
		err := o.WriteRows(&bytes.Buffer{}, &bytes.Buffer{}, []v1alpha1.Row{{ClusterUID: uid}})
		if made, _ := os.ReadDir(folder); err == nil || len(made) > 0 {
			t.Errorf("%q: %v, and %d files", uid, err, len(made))
		}
	}
}
