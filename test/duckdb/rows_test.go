// Package duckdb asks a database what docs/fleet.md asks. It is a module of its own, since DuckDB is
// large and needs a C compiler.
package duckdb

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

// mended is the row of a cluster that was not read on the first day, and was on the second.
func mended(gap, day string) string {
	row := strings.Replace(gap, `"unread"`, `"mended"`, 1)
	row = regexp.MustCompile(`"observed_at":"[^"]*"`).ReplaceAllString(row, `"observed_at":"`+day+`T00:00:00Z"`)
	if day == "2026-11-26" {
		row = strings.NewReplacer(`"row":"gap"`, `"row":"cluster"`, `"complete":false`, `"complete":true`).Replace(row)
	}
	return row + "\n"
}

// saved returns what a command prints of the saved cluster.
func saved(t *testing.T, root, command string, args ...string) []byte {
	t.Helper()
	run := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl-gc"), append(args, command, "-A", "-o", "ndjson",
		"--exit-zero", "--from", filepath.Join(root, "test", "demo", "demo.snapshot"))...)
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v", run, err)
	}
	return out
}

// partitioned has the command write a folder, to which one more day and a cluster that is not known
// are added. It returns the uid of the saved cluster.
func partitioned(t *testing.T, root string) string {
	t.Helper()
	if out := saved(t, root, "why", "--out", "fleet"); len(out) > 0 {
		t.Errorf("with --out, it prints %s", out)
	}
	files, err := filepath.Glob("fleet/cluster=*/date=2026-11-26/why-*.ndjson")
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	uid := regexp.MustCompile(`"cluster_uid":"([^"]*)"`).FindSubmatch(text)[1]
	for name, text := range map[string]string{
		files[0]:                                 string(text),
		strings.ReplaceAll(files[0], "26", "25"): strings.ReplaceAll(string(text), "2026-11-26", "2026-11-25"),
		filepath.Join("fleet", "cluster=unknown", "date=2026-11-26", "why-1.ndjson"): string(text),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, `"context":""`, `"context":"eu"`)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return string(uid)
}

// TestQueriesOfTheFleetPage: the rows of two days of a saved cluster, and of one that could not be
// read, answer the questions of docs/fleet.md as they stand there.
func TestQueriesOfTheFleetPage(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(queries) != 4 {
		t.Fatalf("%d queries on the page, want 4", len(queries))
	}
	t.Chdir(t.TempDir())
	for _, day := range []string{"2026-11-25", "2026-11-26"} {
		folder := filepath.Join("rows", "date="+day)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"why", "check"} {
			rows := saved(t, root, command)
			gap := strings.Split(string(rows), "\n")[0]
			gap = regexp.MustCompile(`"cluster":"[^"]*"`).ReplaceAllString(gap, `"cluster":"unread"`)
			gap = strings.Replace(gap, `"row":"cluster"`, `"row":"gap"`, 1)
			gap = strings.Replace(regexp.MustCompile(`"document":"[^"]*"`).ReplaceAllString(gap, `"document":""`), `"complete":true`, `"complete":false`, 1)
			rows = []byte(strings.ReplaceAll(string(rows), `"cluster":""`, `"cluster":"saved"`) + gap + "\n" + mended(gap, day))
			if err := os.WriteFile(filepath.Join(folder, command+".ndjson"), rows, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	uid := partitioned(t, root)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for i, want := range []string{"unread", "FinalizerActorUnknown", "saved", uid + " eu " + uid + " eu"} {
		answer, err := db.QueryContext(t.Context(), queries[i][1])
		if err != nil {
			t.Fatalf("%s: %v", queries[i][1], err)
		}
		columns, err := answer.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for answer.Next() {
			values := make([]any, len(columns))
			for j := range values {
				values[j] = new(any)
			}
			if err := answer.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				if text, ok := (*v.(*any)).(string); ok {
					said = append(said, text)
				}
			}
		}
		if err := answer.Err(); err != nil || !strings.Contains(strings.Join(said, " "), want) {
			t.Errorf("question %d: %q, %v; want %s", i+1, said, err, want)
		}
		if strings.Contains(strings.Join(said, " "), "mended") {
			t.Errorf("question %d: a cluster that was read when it was asked last is in %q", i+1, said)
		}
	}
}
