package cmd

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectldelete "k8s.io/kubectl/pkg/cmd/delete"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// TestEveryFlagOfKubectlDelete: the same name, shorthand, default and no-value default, but for -o, of which kubectl
// has one format and we more.
func TestEveryFlagOfKubectlDelete(t *testing.T) {
	kubectl := &cobra.Command{}
	kubectldelete.NewDeleteCommandFlags("containing the resource to delete.").AddFlags(kubectl)
	cmdutil.AddDryRunFlag(kubectl)
	root := NewRoot(genericiooptions.NewTestIOStreamsDiscard())
	ours, _, err := root.Find([]string{"delete"})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	kubectl.Flags().VisitAll(func(want *pflag.Flag) {
		compared++
		got := ours.Flags().Lookup(want.Name)
		if got == nil {
			t.Errorf("no --%s", want.Name)
			return
		}
		if got.Shorthand != want.Shorthand || got.DefValue != want.DefValue || got.NoOptDefVal != want.NoOptDefVal || got.Value.Type() != want.Value.Type() {
			t.Errorf("--%s: shorthand %q, default %q, without a value %q, %s; kubectl has %q, %q, %q, %s", want.Name,
				got.Shorthand, got.DefValue, got.NoOptDefVal, got.Value.Type(), want.Shorthand, want.DefValue, want.NoOptDefVal, want.Value.Type())
		}
	})
	if compared < 15 {
		t.Errorf("only %d flags of kubectl delete were found", compared)
	}
}

// TestGracePeriod is kubectl's arithmetic (kubectl/pkg/cmd/delete/delete.go, Complete).
func TestGracePeriod(t *testing.T) {
	for name, test := range map[string]struct {
		flags deleteFlags
		want  int64 // -1 for none
	}{
		"none":          {deleteFlags{gracePeriod: -1}, -1},
		"given":         {deleteFlags{gracePeriod: 30}, 30},
		"now":           {deleteFlags{gracePeriod: -1, now: true}, 1},
		"force":         {deleteFlags{gracePeriod: -1, force: true}, 0},
		"force and 0":   {deleteFlags{gracePeriod: 0, force: true}, 0},
		"0, no force":   {deleteFlags{gracePeriod: 0}, 1},
		"now and force": {deleteFlags{gracePeriod: -1, now: true, force: true}, 1},
	} {
		got := int64(-1)
		if p := test.flags.grace(); p != nil {
			got = *p
		}
		if got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
