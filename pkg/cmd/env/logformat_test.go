package env

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestLinesOfStderrBecomeLinesOfJSON, with the level that their words say, however they are cut
// into writes.
func TestLinesOfStderrBecomeLinesOfJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lines := &logLines{logger: slog.New(slog.NewJSONHandler(&out, nil))}
	for _, part := range []string{"Warning: cannot", " list\n", "error: no \"x\"\n\nhint: add", " --yes\n",
		"Error from server (Forbidden): no\n", "not ended"} {
		fmt.Fprint(lines, part)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var entry struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, entry.Level+" "+entry.Msg)
	}
	want := []string{"WARN Warning: cannot list", `ERROR error: no "x"`, "INFO hint: add --yes",
		"ERROR Error from server (Forbidden): no"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestJSONLinesAreOneLineEach.
func TestJSONLinesAreOneLineEach(t *testing.T) {
	t.Parallel()
	o, cmd := NewOutput(), &cobra.Command{}
	o.Add(cmd)
	if err := cmd.ParseFlags([]string{"-o", "jsonl"}); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(cmd); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	object := &v1alpha1.Diagnosis{TypeMeta: v1alpha1.TypeMeta("Diagnosis"),
		Stuck: []v1alpha1.Stuck{{Object: v1alpha1.ObjectRef{Name: "a\nb"}}}}
	if err := o.Write(&out, object); err != nil || strings.Count(out.String(), "\n") != 1 ||
		!strings.HasSuffix(out.String(), "}\n") {
		t.Errorf("%v: %q", err, out.String())
	}
	var read v1alpha1.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read.Kind != "Diagnosis" ||
		read.Stuck[0].Object.Name != "a\nb" {
		t.Errorf("%v: %+v", err, read)
	}
}
