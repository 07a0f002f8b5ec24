package adopt

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/flags"
)

func TestFlagsThatAreNotGivenLeaveTheReferenceAsItIs(t *testing.T) {
	t.Parallel()
	o, err := flags.Parse(New, "configmap/a", "--owner", "deployment/web", "--controller=false")
	if err != nil {
		t.Fatal(err)
	}
	if o.Owner != "deployment/web" || o.Flags.Controller == nil || *o.Flags.Controller || o.Flags.Block != nil ||
		o.DryRun != "none" {
		t.Errorf("options %+v", o)
	}
	o, err = flags.Parse(New, "configmap", "a", "--owner", "deployment/web", "--block", "--dry-run")
	if err != nil {
		t.Fatal(err)
	}
	if o.Flags.Controller != nil || o.Flags.Block == nil || !*o.Flags.Block || o.DryRun != "client" {
		t.Errorf("options %+v", o)
	}
}

func TestWhatCannotBeAdoptedIsRefusedBeforeAServerIsAsked(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                                  "you must specify one object",
		"configmap":                         "you must specify one object",
		"cm/a cm/b --owner cm/c":            "you must specify one object",
		"a/b/c --owner cm/c":                "you must specify one object",
		"cm/a":                              "--owner needs the owner as TYPE/NAME",
		"cm/a --owner web":                  "--owner needs the owner as TYPE/NAME",
		"cm/a --owner cm/c --dry-run=maybe": "invalid dry-run value (maybe)",
		"cm/a --owner cm/c -o wide":         "unable to match a printer",
	} {
		if o, err := flags.Parse(New, strings.Fields(args)...); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}
