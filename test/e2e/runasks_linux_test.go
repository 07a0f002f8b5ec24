package e2e

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/terminal"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// onTerminal opens a terminal and returns the side of the person and that of the program.
func onTerminal(t *testing.T, columns int) (person, program *os.File) {
	t.Helper()
	person, program, err := terminal.Open(columns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	t.Cleanup(func() { program.Close() })
	return person, program
}

// prompt is what is asked.
const prompt = "Do you want to continue? (y/N): "

// untilPrompt reads what a person sees up to a question.
func untilPrompt(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var seen strings.Builder
	for !strings.HasSuffix(seen.String(), prompt) {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("%v after:\n%s", err, seen.String())
		}
		seen.WriteByte(b)
	}
	return seen.String()
}

// TestRunAsksAgainAboutAPlanThatHasGrown: one delete is agreed to, and forty objects come up while
// the prompt is open. They are shown and asked about; no leaves everything as it is, and yes
// collects all.
func TestRunAsksAgainAboutAPlanThatHasGrown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer     string
		code, left int
	}{{"n", 2, 41}, {"y", 0, 0}} {
		t.Run(tt.answer, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			ns := c.Namespace(t)
			c.Apply(t, dangling("old"), "-n", ns)
			person, program := onTerminal(t, 0)
			code := make(chan int, 1)
			go func() {
				streams := genericiooptions.IOStreams{In: program, Out: program, ErrOut: program}
				code <- cmd.Main(t.Context(), streams, []string{"kubectl-gc", "run", "-n", ns, "--kubeconfig", c.Kubeconfig()})
				program.Close()
			}()
			seen := bufio.NewReader(person)
			if first := untilPrompt(t, seen); !strings.Contains(first, "deletes 1 object") {
				t.Errorf("the first plan is\n%s", first)
			}
			c.Apply(t, dangling(numbered("new%02d", 40)...), "-n", ns)
			fmt.Fprintln(person, "y")
			second := untilPrompt(t, seen)
			if !strings.Contains(
				second, "Warning: the plan has grown since you agreed to it: it deletes 40 more objects: ConfigMap/new00") ||
				!strings.Contains(second, "deletes 41 objects") {
				t.Errorf("the second plan is\n%s", second)
			}
			fmt.Fprintln(person, tt.answer)
			var rest strings.Builder
			_, _ = seen.WriteTo(&rest) // which ends with an error when the program has closed its side
			if got := <-code; got != tt.code {
				t.Errorf("exit code %d, want %d:\n%s", got, tt.code, rest.String())
			}
			if tt.code == 2 && !strings.Contains(rest.String(), "error: stopped before pass 1: the new plan was not agreed to") {
				t.Errorf("it ends with\n%s", rest.String())
			}
			if n := countConfigMaps(t, c, ns); n != tt.left {
				t.Errorf("%d are left, want %d", n, tt.left)
			}
		})
	}
}
