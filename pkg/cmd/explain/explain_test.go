package explain

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/flags"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

func TestFlagsBecomeOptions(t *testing.T) {
	t.Parallel()
	o, err := flags.Parse(New, "a.example.com/x", "--component", "flux", "--in-cluster")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Args, []string{"a.example.com/x"}) || o.Component != "flux" || !o.InCluster || o.All {
		t.Errorf("options %+v", o)
	}
}

func TestAQuestionWithoutASubjectIsRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                "name a finalizer",
		"a.example.com/x": "",
		"x -A":            "finalizers cannot be named together with -A",
		"-A --in-cluster": "-A and --in-cluster cannot be used together",
		"--test-pack x":   "",

		"--test-pack x a.example.com/x":  "--test-pack cannot be used together",
		"--test-pack x --component flux": "--test-pack cannot be used together",
		"--test-pack x -A":               "--test-pack cannot be used together",
		"--test-pack x --in-cluster":     "--test-pack cannot be used together",
		"--test-pack x -o name":          "--test-pack cannot be used together with -o name",
		"--test-pack x -o wide":          "--test-pack cannot be used together with -o wide",
	} {
		o, err := flags.Parse(New, strings.Fields(args)...)
		if want == "" && (o == nil || err != nil) || want != "" &&
			(o != nil || err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: ran %t, error %v; want %q", args, o != nil, err, want)
		}
	}
}

// TestExplainNeedsNoServer runs the command itself, with connection flags that lead nowhere.
func TestExplainNeedsNoServer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	config := genericclioptions.NewConfigFlags(true)
	*config.APIServer = "https://127.0.0.1:1"
	cmd := New(env.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, config), nil)
	cmd.SetArgs([]string{"karpenter.sh/termination", "-o", "name"})
	if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), "karpenter.sh/termination") {
		t.Errorf("%v: %s", err, &out)
	}
}
