package delete

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// full is a file on a disk that has room for so many writes.
type full struct {
	strings.Builder
	room int
}

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	if f.room == 0 {
		return 0, errFull
	}
	f.room--
	return f.Builder.Write(p)
}

func (f *full) Close() error { return nil }

func TestAnEntryIsALineWithItsTimeAndItsRun(t *testing.T) {
	t.Parallel()
	f := &full{room: 2}
	l := newAuditLog("audit.jsonl", f, func(err error) { t.Error(err) }, func() time.Time { return time.Unix(1, 0) })
	for _, event := range []string{v1alpha1.AuditAgreed, v1alpha1.AuditEnded} {
		if err := l.Write(v1alpha1.AuditEntry{Event: event, Error: "on\ntwo lines"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(f.String(), "\n")
	if len(lines) != 3 || lines[2] != "" {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	want := fmt.Sprintf(
		`{"kind":"AuditEntry","apiVersion":"gc.kubectl.dev/v1alpha1","time":"1970-01-01T00:00:01.000000Z","run":%q,"event":"Agreed","error":"on\ntwo lines"}`, l.run)
	if lines[0] != want || l.run == "" {
		t.Errorf("%s, want\n%s", lines[0], want)
	}
}

// TestTheFirstEntryThatCannotBeWrittenIsTold, once, and nothing is written behind the gap.
func TestTheFirstEntryThatCannotBeWrittenIsTold(t *testing.T) {
	t.Parallel()
	f := &full{room: 1}
	var told []error
	l := newAuditLog("audit.jsonl", f, func(err error) { told = append(told, err) }, time.Now)
	if err := l.Write(v1alpha1.AuditEntry{Event: v1alpha1.AuditAgreed}); err != nil {
		t.Fatal(err)
	}
	err := l.Write(v1alpha1.AuditEntry{Event: v1alpha1.AuditWritten})
	if !errors.Is(err, errFull) || err.Error() != "writing the audit file audit.jsonl: no space left on device" {
		t.Errorf("error %v", err)
	}
	f.room = 1
	if again := l.Write(v1alpha1.AuditEntry{Event: v1alpha1.AuditEnded}); !errors.Is(again, err) || f.room == 0 {
		t.Errorf("error %v, and room for %d", again, f.room)
	}
	if closed := l.Close(); !errors.Is(closed, err) || len(told) != 1 || !errors.Is(told[0], err) {
		t.Errorf("closed with %v, told %v", closed, told)
	}
}

// TestCommandsAppendToOneFile at the same time, which only its owner can read.
func TestCommandsAppendToOneFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "audit.jsonl")
	var commands sync.WaitGroup
	for range 4 {
		commands.Go(func() {
			l, err := openAudit(name, func(err error) { t.Error(err) })
			if err != nil {
				t.Error(err)
				return
			}
			for range 50 {
				if err := l.Write(v1alpha1.AuditEntry{Event: v1alpha1.AuditWritten, Error: strings.Repeat("x", 5000)}); err != nil {
					t.Error(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	commands.Wait()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var e v1alpha1.AuditEntry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		runs[e.Run]++
	}
	if len(runs) != 4 {
		t.Errorf("runs %v", runs)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
