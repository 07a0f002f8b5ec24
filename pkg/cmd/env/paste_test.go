package env

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// TestPastedCommandsAreForTheClusterThatWasMeant, and as who was meant. Nothing in quotes is a
// command, and who is named in a command stays.
func TestPastedCommandsAreForTheClusterThatWasMeant(t *testing.T) {
	t.Parallel()
	const flags = "--context 'pr od' --as jane --as-group a --as-group b"
	for command, want := range map[string]string{
		"kubectl gc unfinalize cm/a --finalizer x":         "kubectl gc unfinalize cm/a --finalizer x " + flags,
		"kubectl patch cm/a -p '{\"x\":\"kubectl get \"}'": "kubectl patch cm/a -p '{\"x\":\"kubectl get \"}' " + flags,
		"kubectl annotate cm/a 'it'\\''s;kubectl'":         "kubectl annotate cm/a 'it'\\''s;kubectl' " + flags,
		"kubectl annotate cm/a kubectl.kubernetes.io/x-":   "kubectl annotate cm/a kubectl.kubernetes.io/x- " + flags,
		"kubectl get cm -o name | kubectl delete -f -":     "kubectl get cm -o name " + flags + " | kubectl delete -f - " + flags,
		"kubectl create ns a; kubectl delete ns/a":         "kubectl create ns a " + flags + "; kubectl delete ns/a " + flags,
		"kubectl exec pod/a -- ls":                         "kubectl exec pod/a " + flags + " -- ls",
		"kubectl auth can-i get cm --as=me":                "kubectl auth can-i get cm --as=me --context 'pr od'",
		"az lock delete":                                   "az lock delete",
	} {
		config := genericclioptions.NewConfigFlags(false)
		e := New(genericiooptions.NewTestIOStreamsDiscard(), config)
		diagnosis := func() []v1alpha1.Stuck {
			return []v1alpha1.Stuck{{Causes: []v1alpha1.Cause{{Commands: []string{command},
				Steps: []v1alpha1.Step{{Command: command}}}}}}
		}
		plain := diagnosis()
		if e.Pasted(plain); plain[0].Causes[0].Commands[0] != command {
			t.Errorf("nothing was typed, and it is %q", plain[0].Causes[0].Commands[0])
		}
		context, user := "pr od", "jane"
		config.Context, config.Impersonate, config.ImpersonateGroup = &context, &user, &[]string{"a", "b"}
		got := diagnosis()
		e.Pasted(got)
		if c := got[0].Causes[0]; c.Commands[0] != want || c.Steps[0].Command != want {
			t.Errorf("%q and %q, want %q", c.Commands[0], c.Steps[0].Command, want)
		}
		found := []v1alpha1.CheckFinding{{Commands: []string{command}}}
		if e.PastedFindings(found); found[0].Commands[0] != want {
			t.Errorf("of a finding %q, want %q", found[0].Commands[0], want)
		}
	}
}

// TestPastedCommandsCallTheProgramAsItWasCalled, where a command begins with it.
func TestPastedCommandsCallTheProgramAsItWasCalled(t *testing.T) {
	t.Parallel()
	e := New(genericiooptions.NewTestIOStreamsDiscard(), genericclioptions.NewConfigFlags(false))
	e.Called = "kubectl cascade"
	for command, want := range map[string]string{
		"kubectl gc unfinalize cm/a":            "kubectl cascade unfinalize cm/a",
		"kubectl get cm/a":                      "kubectl get cm/a",
		"kubectl annotate cm/a 'x=kubectl gc '": "kubectl annotate cm/a 'x=kubectl gc '",
	} {
		found := []v1alpha1.CheckFinding{{Commands: []string{command}}}
		if e.PastedFindings(found); found[0].Commands[0] != want {
			t.Errorf("%q, want %q", found[0].Commands[0], want)
		}
	}
}

// TestNoPasswordIsPasted with the server that was typed.
func TestNoPasswordIsPasted(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"https://jane:p%40ss@host:6443/a@b": "https://host:6443/a@b", "jane:pa:ss@host": "host",
		"https://j:p@x@host?q": "https://host?q", "https://host:6443": "https://host:6443", "host": "host",
	} {
		config := genericclioptions.NewConfigFlags(false)
		config.APIServer = &server
		found := []v1alpha1.CheckFinding{{Commands: []string{"kubectl get cm"}}}
		New(genericiooptions.NewTestIOStreamsDiscard(), config).PastedFindings(found)
		if got := found[0].Commands[0]; got != "kubectl get cm --server "+phrase.ShellWord(want) {
			t.Errorf("%s: %q", server, got)
		}
	}
}
