package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/flags"
)

func TestFlagsBecomeOptions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.snapshot")
	o, err := flags.Parse(New, file, "--whole", "pods,events", "--whole", "jobs", "-o", "json")
	if err != nil || o.File != file || !slices.Equal(o.Whole, []string{"pods", "events", "jobs"}) || o.Output.Format() != "json" {
		t.Errorf("options %+v, %v", o, err)
	}
	if o, err := flags.Parse(New, "-"); err != nil || o.File != "-" {
		t.Errorf("to standard output: %+v, %v", o, err)
	}
}

func TestWhatCannotBeWrittenIsRefusedBeforeAServerIsAsked(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                     "snapshot requires one file",
		"a b":                  "snapshot requires one file",
		"- -o json":            "where the snapshot goes",
		there:                  "never overwritten",
		"/none/a":              "there is no directory",
		"a.snapshot -o banana": "unable to match a printer",
	} {
		if o, err := flags.Parse(New, strings.Fields(args)...); o != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}
