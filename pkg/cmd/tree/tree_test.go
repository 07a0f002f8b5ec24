package tree

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/flags"
)

func TestFlagsBecomeOptions(t *testing.T) {
	t.Parallel()
	o, err := flags.Parse(New, "deployment/web", "--depth=2", "--types", "pods,apps", "--exclude-types=secrets",
		"--links=false", "-o", "wide", "-A", "--show-labels", "--no-headers")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Args, []string{"deployment/web"}) || o.Depth != 2 ||
		!slices.Equal(o.Types, []string{"pods", "apps"}) ||
		!slices.Equal(o.Exclude, []string{"secrets"}) || o.FollowLinks || !o.Output.Wide() || !o.Objects.AllNamespaces ||
		!o.ShowLabels || !o.Style(o.Output).NoHeaders || o.Owners || o.Watch {
		t.Errorf("options %+v", o)
	}
	if o, err := flags.Parse(New); err != nil || o.Depth >= 0 || !o.FollowLinks || o.ShowLabels ||
		o.Style(o.Output).NoHeaders {
		t.Errorf("without flags: %+v, %v", o, err)
	}
}

func TestWhatCannotBeShownIsRefusedBeforeAServerIsAsked(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--owners":                        "--owners requires an object",
		"--watch -o json":                 "--watch cannot be used together with -o json",
		"--watch -o html":                 "--watch cannot be used together with -o html",
		"--show-labels -o json":           "--show-labels adds a column to the table",
		"-o custom-columns=NAME":          "want HEADER:PATH",
		"-o table":                        "unable to match a printer",
		"deployment/web -f app.yaml":      "you may not specify resource arguments as well",
		"-l app=web -f app.yaml":          "--selector cannot be used together with --filename",
		"deployment/web -l app=web":       "name cannot be provided when a selector is specified",
		"pods -l app=(":                   "--selector: ",
		"-f app.yaml -k overlay --depth1": "unknown flag",
	} {
		if o, err := flags.Parse(New, strings.Fields(args)...); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}
