package core

import (
	"os/exec"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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
