package cmd

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestHelpAndHintsNameTheProgramAsItWasCalled: krew can install it under another name, and then
// nothing else is found.
func TestHelpAndHintsNameTheProgramAsItWasCalled(t *testing.T) {
	t.Parallel()
	called := func(program string, args ...string) string {
		var out bytes.Buffer
		Main(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out},
			append([]string{program}, args...))
		return out.String()
	}
	for _, args := range [][]string{nil, {"options"}, {"nosuch"}, {"tre"}, {"version", "--nosuch"}, {"why", "-h"}} {
		usual := called("/somewhere/kubectl-gc", args...)
		want := strings.ReplaceAll(usual, "kubectl gc", "kubectl cascade")
		if got := called("/somewhere/kubectl-cascade", args...); got != want {
			t.Errorf("%v: got\n%s\nwant\n%s", args, got, want)
		}
		if got := called(`C.exe/kubectl-other.exe`, args...); got != usual {
			t.Errorf("%v under a name that krew does not give: got\n%s\nwant\n%s", args, got, usual)
		}
	}
	root := NewRoot(genericiooptions.NewTestIOStreamsDiscard())
	rename(root, "kubectl cascade")
	for _, cmd := range root.Commands() {
		if help := cmd.Long + cmd.UsageString(); strings.Contains(help, "kubectl gc") || !strings.Contains(help, "kubectl cascade") {
			t.Errorf("the help of %s names another program:\n%s", cmd.Name(), help)
		}
	}
	if got := called("kubectl_complete-cascade.exe", "--log-format", ""); got != called("kubectl-gc", "__complete", "--log-format", "") {
		t.Errorf("completion says %q", got)
	}
}
