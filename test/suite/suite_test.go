package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestAReportHasWhatFailedAndWhatIsSlow: of a package that passed a line, of a test that failed all
// it printed, and the slowest without their parents.
func TestAReportHasWhatFailedAndWhatIsSlow(t *testing.T) {
	t.Parallel()
	events := `{"Action":"output","Package":"p","Test":"TestA/sub","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA/sub","Elapsed":3}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":9}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":5}
{"Action":"pass","Package":"p","Test":"TestC","Elapsed":1}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t9.0s\n"}
{"Action":"pass","Package":"p","Elapsed":9}
{"Action":"output","Package":"q","Test":"TestD","Output":"it is wrong\n"}
{"Action":"fail","Package":"q","Test":"TestD","Elapsed":1}
{"Action":"output","Package":"q","Output":"FAIL\tq\n"}
{"Action":"fail","Package":"q","Elapsed":1}
{"ImportPath":"r","Action":"build-output","Output":"r.go:1: undefined\n"}
{"ImportPath":"r","Action":"build-fail"}
`
	var out strings.Builder
	r := &report{out: &out}
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	r.printSlowest(2)
	want := "ok  \tp\t9.0s\nit is wrong\nFAIL\tq\nr.go:1: undefined\n3 tests passed. The slowest:\n     5.0 s  p TestB\n     3.0 s  p TestA/sub\n"
	if out.String() != want {
		t.Errorf("got %q\nwant %q", out.String(), want)
	}
}

// TestAReportHasTheErrorOfItsCommand: a go test that failed fails the target.
func TestAReportHasTheErrorOfItsCommand(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	wrong := errors.New("exit status 1")
	go func() { _ = write.CloseWithError(wrong) }()
	if err := (&report{out: io.Discard}).read(read); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

// TestOneFailureLeavesTheOthersRunning: and the target fails.
func TestOneFailureLeavesTheOthersRunning(t *testing.T) {
	t.Parallel()
	ran := make(chan string, 3)
	err := all([]string{"a", "b", "c"}, 1, func(command string) error {
		ran <- command
		if command == "b" {
			return errors.New("b failed")
		}
		return nil
	})
	if err == nil || len(ran) != 3 {
		t.Errorf("%v, %d ran", err, len(ran))
	}
}

func TestARowIsReplacedInItsTable(t *testing.T) {
	t.Parallel()
	c := cost{"test", 9*time.Minute + 1400*time.Millisecond, 17 * time.Minute}
	text := "before\n" + tableBegins + "| target |\n|---|\n| `make test-short` | 1m0s |\n| `make test` | 44m0s |\n" +
		tableEnds + "after\n"
	got, err := c.in(text)
	if err != nil || strings.Contains(got, "44m") || !strings.Contains(got, c.row()) ||
		!strings.HasPrefix(c.row(), "| `make test` | 9m1s | 17m0s |") {
		t.Errorf("got %v, %s", err, got)
	}
	if !strings.Contains(got, "`make test-short` | 1m0s") || !strings.HasPrefix(got, "before\n") ||
		!strings.HasSuffix(got, "after\n") {
		t.Errorf("the rest is not as it was: %s", got)
	}
	if _, err := c.in("no table"); err == nil {
		t.Error("a file without a table is no error")
	}
}
