package delete

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectldelete "k8s.io/kubectl/pkg/cmd/delete"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestEveryFlagOfKubectlDelete: the same name, shorthand, default and no-value default, but for -o,
// of which kubectl has one format and we more.
func TestEveryFlagOfKubectlDelete(t *testing.T) {
	kubectl := &cobra.Command{}
	kubectldelete.NewDeleteCommandFlags("containing the resource to delete.").AddFlags(kubectl)
	cmdutil.AddDryRunFlag(kubectl)
	ours := New(env.New(genericiooptions.NewTestIOStreamsDiscard(), genericclioptions.NewConfigFlags(true)), nil)
	compared := 0
	kubectl.Flags().VisitAll(func(want *pflag.Flag) {
		compared++
		got := ours.Flags().Lookup(want.Name)
		if got == nil {
			t.Errorf("no --%s", want.Name)
			return
		}
		if got.Shorthand != want.Shorthand || got.DefValue != want.DefValue || got.NoOptDefVal != want.NoOptDefVal ||
			got.Value.Type() != want.Value.Type() {
			t.Errorf("--%s: shorthand %q, default %q, without a value %q, %s; kubectl has %q, %q, %q, %s", want.Name,
				got.Shorthand, got.DefValue, got.NoOptDefVal, got.Value.Type(), want.Shorthand, want.DefValue, want.NoOptDefVal,
				want.Value.Type())
		}
	})
	if compared < 15 {
		t.Errorf("only %d flags of kubectl delete were found", compared)
	}
}

// typed returns what the command's flags come to. No server is asked.
func typed(t *testing.T, args ...string) (*Options, error) {
	t.Helper()
	var got *Options
	cmd := New(env.New(genericiooptions.NewTestIOStreamsDiscard(), genericclioptions.NewConfigFlags(true)),
		func(_ context.Context, o *Options) error {
			got = o
			return nil
		})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return got, cmd.ExecuteContext(t.Context())
}

// TestGracePeriod is kubectl's arithmetic (kubectl/pkg/cmd/delete/delete.go, Complete).
func TestGracePeriod(t *testing.T) {
	for name, test := range map[string]struct {
		flags []string
		want  int64 // -1 for none
	}{
		"none":        {nil, -1},
		"given":       {[]string{"--grace-period=30"}, 30},
		"now":         {[]string{"--now"}, 1},
		"force":       {[]string{"--force"}, 0},
		"force and 0": {[]string{"--grace-period=0", "--force"}, 0},
		"0, no force": {[]string{"--grace-period=0"}, 1},
		"now, force":  {[]string{"--now", "--force"}, 1},
	} {
		o, err := typed(t, append([]string{"pod/p"}, test.flags...)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := int64(-1)
		if p := o.Request.GracePeriodSeconds; p != nil {
			got = *p
		}
		if got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// TestFlagsMakeTheRequest: the request has what the flags say, with kubectl's defaults.
func TestFlagsMakeTheRequest(t *testing.T) {
	for line, holds := range map[string]func(*Options) bool{
		"pod/p": func(o *Options) bool {
			return o.Request.Policy == plan.Background && o.Request.GC == deletion.ClusterGC && o.Wait
		},
		"pod/p --dry-run":       func(o *Options) bool { return o.DryRun == "client" },
		"pod/p --dry-run=true":  func(o *Options) bool { return o.DryRun == "client" },
		"pod/p --dry-run=false": func(o *Options) bool { return o.DryRun == "none" },
		"pod/p --cascade=orphan": func(o *Options) bool {
			return o.Request.Policy == plan.Orphan
		},
		"pod/p --cascade=false": func(o *Options) bool {
			return o.Request.Policy == plan.Orphan
		},
		"pod/p --cascade=true": func(o *Options) bool {
			return o.Request.Policy == plan.Background
		},
		"pods --all": func(o *Options) bool {
			return o.Request.Selection.All && o.Request.IgnoreNotFound
		},
		"pods -l app=web": func(o *Options) bool {
			return o.Objects.Selector == "app=web" && o.Request.IgnoreNotFound
		},
		"pods --all --timeout=5s": func(o *Options) bool {
			return o.Timeout == 5*time.Second
		},
		"pods --field-selector=a=b": func(o *Options) bool {
			return o.Request.Selection.Fields == "a=b" && o.Request.IgnoreNotFound
		},
		"pods --all --ignore-not-found=false": func(o *Options) bool {
			return !o.Request.IgnoreNotFound
		},
		"pod/p --gc=client --now --propagate-grace-period": func(o *Options) bool {
			return o.Request.GC == deletion.ClientGC && o.Request.PropagateGracePeriod
		},
		"pod/p --cascade=foreground --strict --allow-incomplete": func(o *Options) bool {
			return o.Request.Strict && o.Request.AllowIncomplete
		},
		"deployment/web service/web --wait=false --cascade=background -y": func(o *Options) bool {
			return len(o.Args) == 2 && o.Yes && !o.Wait
		},
	} {
		if o, err := typed(t, strings.Fields(line)...); err != nil || !holds(o) {
			t.Errorf("%s: %v, %+v", line, err, o)
		}
	}
}

// TestFlagsThatDoNotGoTogether are refused before anything is asked of a server.
func TestFlagsThatDoNotGoTogether(t *testing.T) {
	for line, want := range map[string]string{
		"":                                 "you must specify the objects to delete",
		"pods --all -l app=web":            "cannot set --all and --selector",
		"pods --all --field-selector a=b":  "cannot set --all and --field-selector",
		"pod/p --now --grace-period=5":     "--now and --grace-period",
		"pod/p --force --grace-period=5":   "--force and --grace-period greater than 0",
		"pod/p --gc=nobody":                "invalid value of --gc",
		"pod/p --timeout=-1s":              "--timeout must not be negative",
		"-f -":                             "--yes",
		"pod/p --cascade orphan":           "did you mean --cascade=orphan?",
		"pod/p --cascade=sideways":         "sideways",
		"pod/p --dry-run=maybe":            "invalid dry-run value (maybe)",
		"pod/p --strict":                   "--cascade=foreground",
		"pod/p --propagate-grace-period":   "--propagate-grace-period requires --grace-period",
		"pod/p --archive=- --yes":          "--archive does not write to standard output",
		"pod/p --archive=a.yaml --dry-run": "--archive needs a deletion",
		"pod/p --raw=/api/v1/namespaces/n": "kubectl delete --raw /api/v1/namespaces/n",
		"pod/p -o html":                    "-o html shows a plan and no deletion",
		"pod/p -o markdown --yes":          "-o markdown shows a plan and no deletion",
		"pod/p --fail-on=loss":             "--fail-on takes data-loss, stuck,",
		"pod/p --fail-on=":                 "--fail-on takes data-loss, stuck,",
		"pod/p -o nonsense":                "unable to match a printer",
		"pod/p --now --propagate-grace-period --wait=false": "cannot be used with --wait=false",
	} {
		o, err := typed(t, strings.Fields(line)...)
		if err == nil || o != nil || env.Mistyped(err) != "delete" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a usage error with %q", line, err, want)
		}
	}
}

func TestAnApprovalIsReadBeforeAServerIsAsked(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	if o, err := typed(t, "pod/web", "--confirm="+digest); err != nil || o.approved == nil || o.approved.Digest != digest {
		t.Errorf("options %+v, error %v", o, err)
	}
	if o, err := typed(t, "-f", "-", "--confirm="+digest); err != nil || o == nil {
		t.Errorf("with standard input: %v", err)
	}
	for args, want := range map[string]string{
		"--confirm=" + digest + " --yes": "--confirm and --yes cannot be used together",
		"--confirm=" + digest + " -i":    "--confirm and --interactive cannot be used together",
		"--confirm=sha256:1":             "is neither a digest",
		"--confirm=":                     "is neither a digest",
	} {
		if o, err := typed(t, append([]string{"pod/web"}, strings.Fields(args)...)...); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}

func TestAnAuditFileNeedsADeletionAndAName(t *testing.T) {
	for args, want := range map[string]string{
		"--audit-file=":                         "--audit-file needs the name of a file",
		"--audit-file=-":                        "--audit-file does not write to standard output",
		"--audit-file=f.jsonl --dry-run=client": "--audit-file needs a deletion; remove --dry-run",
	} {
		if o, err := typed(t, append([]string{"pod/web"}, strings.Fields(args)...)...); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}
