package core

import (
	"os/exec"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// TestCommandsAreSafeToCopy: a shell takes each word for one, whatever an object put into it.
func TestCommandsAreSafeToCopy(t *testing.T) {
	for _, word := range []string{"plain", "example.com/x", "", "a b", "$(touch /nonexistent/x)", "`id`", "it's",
		`"quoted"`, `back\slash`, "a;b", "*", "~", "-n", "a\nb", "ü"} {
		line := "printf %s " + Command(word).Write(v1alpha1.ObjectRef{})
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q becomes %q in a shell: %v", word, out, err)
		}
	}
}

func TestCommandNamesTheObject(t *testing.T) {
	for _, test := range []struct {
		o    v1alpha1.ObjectRef
		want string
	}{
		{v1alpha1.ObjectRef{APIVersion: "v1", Resource: "pods", Namespace: "ns", Name: "p"}, "kubectl delete pods/p -n ns"},
		{v1alpha1.ObjectRef{APIVersion: "apps/v1", Resource: "deployments", Namespace: "ns", Name: "d"},
			"kubectl delete deployments.apps/d -n ns"},
		{v1alpha1.ObjectRef{APIVersion: "v1", Resource: "nodes", Name: "n"}, "kubectl delete nodes/n"},
	} {
		if got := Command("kubectl", "delete", "OBJECT").Write(test.o); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestFirstCommandHarmsNothing(t *testing.T) {
	pod := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "ns", Name: "p"}
	end := Command("kubectl", "delete", "OBJECT")
	for _, test := range []struct {
		name  string
		steps []Step
		want  string
	}{
		{"nothing is known of it", []Step{end}, "kubectl delete pods/p -n ns"},
		{"it is safe", []Step{end.Risking(finalizer.RiskNone)}, "kubectl delete pods/p -n ns"},
		{"data are lost", []Step{end.Risking(finalizer.DataLoss)}, "kubectl describe pods/p -n ns"},
		{"something that works is harmed", []Step{end.Disturbing()}, "kubectl describe pods/p -n ns"},
		{"that comes later", []Step{FixedCommand("kubectl", "version"), end.Disturbing()}, "kubectl version"},
	} {
		if got := (Finding{About: &pod, Commands: test.steps}).Printed().Commands[0]; got != test.want {
			t.Errorf("%s: the first command is %q, want %q", test.name, got, test.want)
		}
	}
}

func TestForced(t *testing.T) {
	held := v1alpha1.ObjectRef{APIVersion: "v1", Resource: "secrets", Namespace: "ns", Name: "s"}
	const want = "kubectl gc unfinalize secrets/s -n ns --finalizer example.com/f --force"
	for _, s := range []Step{Remove("example.com/f"), Remove("example.com/f", "--force")} {
		if got := s.Forced().Write(held); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Command("kubectl", "delete", "OBJECT").Forced().Write(held); got != "kubectl delete secrets/s -n ns" {
		t.Errorf("a deletion is forced: %q", got)
	}
	if got := Remove("example.com/f").Forced().Write(v1alpha1.ObjectRef{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
