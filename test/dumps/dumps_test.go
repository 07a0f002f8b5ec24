// Package dumps tests whole commands that read dumps: in scripts without a control plane, and beside
// the control plane that was dumped.
package dumps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) {
	testscript.Main(testcluster.Wrap(m), map[string]func(){"kubectl-gc": func() { os.Exit(cmd.Process()) }})
}

// TestScripts: each script has a kubeconfig that leads nowhere, so that whoever asks a cluster
// fails.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata", UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "", RequireExplicitExec: true,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("KUBECONFIG", env.WorkDir+"/no-kubeconfig")
			env.Setenv("HOME", env.WorkDir)
			demo, err := filepath.Abs("../demo/demo.snapshot")
			env.Setenv("DEMO", demo)
			return err
		},
	})
}
