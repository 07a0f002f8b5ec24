package command

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/plane"
)

// What up is told has to reach the supervisor that it starts.
func TestStartArgsSayWhatTheFlagsSaid(t *testing.T) {
	for _, want := range []plane.Options{
		{Dir: "/tmp/one", Controllers: plane.DefaultControllers},
		{
			Dir: "-odd dir", Controllers: "*,-garbage-collector-controller",
			APIServerArgs:   []string{"--v=4", "--feature-gates=A=true,B=false"},
			ControllersArgs: []string{"--concurrent-gc-syncs=1"},
		},
	} {
		var got plane.Options
		cmd := &cobra.Command{}
		addStartFlags(cmd, &got)
		if err := cmd.ParseFlags(startArgs(want)); err != nil {
			t.Errorf("%v: %v", startArgs(want), err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v was read as %+v, want %+v", startArgs(want), got, want)
		}
	}
}

func TestAnnounceIsForTheShell(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/one/kubeconfig": "export KUBECONFIG=/tmp/one/kubeconfig\n",
		"/tmp/it's $HOME":     "export KUBECONFIG='/tmp/it'\\''s $HOME'\n",
	} {
		var out strings.Builder
		announce(&out, path)
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	}
}

// A command without a directory must not take the one that it is called in.
func TestDirIsNeeded(t *testing.T) {
	for _, args := range [][]string{{"up"}, {"run"}, {"down"}, {"supervise"}, {"controllers", "none"},
		{"apiserver", "stop"}, {"apiserver", "start"}} {
		root := New()
		root.SetArgs(args)
		if err := root.ExecuteContext(t.Context()); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
