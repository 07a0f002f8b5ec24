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
	if len(queries) != 3 {
		t.Fatalf("%d queries on the page, want 3", len(queries))
	}
	t.Chdir(t.TempDir())
	for _, day := range []string{"2026-11-25", "2026-11-26"} {
		folder := filepath.Join("rows", "date="+day)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"why", "check"} {
			run := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl-gc"), command, "-A", "-o", "ndjson",
				"--exit-zero", "--from", filepath.Join(root, "test", "demo", "demo.snapshot"))
			rows, err := run.Output()
			if err != nil {
				t.Fatalf("%s: %v", run, err)
			}
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
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for i, want := range []string{"unread", "FinalizerActorUnknown", "saved"} {
		answer, err := db.QueryContext(t.Context(), queries[i][1])
		if err != nil {
			t.Fatalf("%s: %v", queries[i][1], err)
		}
		columns, err := answer.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var first []string
		for answer.Next() {
			values := make([]any, len(columns))
			for j := range values {
				values[j] = new(any)
			}
			if err := answer.Scan(values...); err != nil {
				t.Fatal(err)
			}
			if text, ok := (*values[0].(*any)).(string); ok {
				first = append(first, text)
			}
		}
		if err := answer.Err(); err != nil || !strings.Contains(strings.Join(first, " "), want) {
			t.Errorf("question %d: %q, %v; want %s", i+1, first, err, want)
		}
		if strings.Contains(strings.Join(first, " "), "mended") {
			t.Errorf("question %d: a cluster that was read when it was asked last is in %q", i+1, first)
		}
	}
}
