package archive

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
	file := filepath.Join(t.TempDir(), "a.yaml")
	o, err := flags.Parse(New, "deployments", "-l", "app=web", "--to", file, "--allow-incomplete", "--links=false",
		"-o", "wide")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Args, []string{"deployments"}) || o.Objects.Selector != "app=web" || o.To != file ||
		!o.AllowIncomplete || o.FollowLinks || !o.Output.Wide() || o.Verify != "" {
		t.Errorf("options %+v", o)
	}
	if o, err := flags.Parse(New, "--verify", file); err != nil || o.Verify != file || !o.FollowLinks ||
		o.AllowIncomplete {
		t.Errorf("to verify: %+v, %v", o, err)
	}
}

func TestWhatCannotBeArchivedIsRefusedBeforeAServerIsAsked(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                                  "archive requires objects",
		"--to a.yaml":                       "archive requires objects",
		"deployment/web":                    "--to is required",
		"deployment/web --to=":              "--to is required",
		"deployment/web --to -":             "--to does not write to standard output",
		"deployment/web --to " + there:      "never overwritten",
		"deployment/web --to /none/a.yaml":  "there is no directory",
		"deployment/web --verify a.yaml":    "--verify reads an archive and takes no objects",
		"-f a.yaml --verify a.yaml":         "--verify reads an archive and takes no objects",
		"--verify=":                         "--verify needs the name of a file",
		"--verify a.yaml --to b.yaml":       "--verify cannot be used together with --to",
		"--verify a.yaml --links":           "--verify cannot be used together with --links",
		"--verify a.yaml -A":                "--verify cannot be used together with --all-namespaces",
		"deployment/web --to a.yaml -o dot": "unable to match a printer",
	} {
		if o, err := flags.Parse(New, strings.Fields(args)...); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}
