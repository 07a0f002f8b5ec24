package wait

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/test/flags"
)

func TestFlagsBecomeOptions(t *testing.T) {
	t.Parallel()
	o, err := flags.Parse(New, "configmaps", "-l", "app=web", "--field-selector=metadata.name=web", "--timeout=5m",
		"--allow-incomplete", "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Args, []string{"configmaps"}) || o.Objects.Selector != "app=web" ||
		o.Request.Selection.Fields != "metadata.name=web" ||
		o.Timeout != 5*time.Minute || !o.Request.AllowIncomplete || o.Output.Format() != "name" || o.Request.Known == nil {
		t.Errorf("options %+v", o)
	}
	if o, err := flags.Parse(New, "pods", "--all"); err != nil || o.Timeout != env.NoTimeout ||
		o.Request.AllowIncomplete || !o.Request.Selection.All {
		t.Errorf("without flags: %+v, %v", o, err)
	}
}

func TestWhatCannotBeWaitedForIsRefusedBeforeAServerIsAsked(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                      "you must specify the objects to wait for",
		"pods --all -l app=web": "cannot set --all and --selector at the same time",
		"pods --all --field-selector=metadata.name=web": "cannot set --all and --field-selector at the same time",
		"pod/web --timeout=-1s":                         "--timeout must not be negative",
		"pod/web -l app=web":                            "name cannot be provided when a selector is specified",
		"pod/web --filename a.yaml":                     "you may not specify resource arguments as well",
		"pod/web --packs /nowhere":                      "no such file",
		"pod/web -o jsonpath={.a[}":                     "unterminated",
		"pod/web -o wide":                               "unable to match a printer suitable for the output format",
	} {
		if o, err := flags.Parse(New, strings.Fields(args)...); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}
