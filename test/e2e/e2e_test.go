// Package e2e runs scripts of whole commands through the real kubectl against a real API server.
package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
	"github.com/rogpeppe/go-internal/testscript"
)

// workloads are the controllers that make pods.
var workloads = testcluster.Controllers("deployment-controller", "replicaset-controller")

// TestMain runs the tests or, called under another name by a script, the plugin. There is no collector: the scripts show what
// a collector would not leave alone.
func TestMain(m *testing.M) {
	run := testcluster.Wrap(m, workloads)
	testscript.Main(run, map[string]func(){
		"kubectl-gc":          plugin,
		"kubectl_complete-gc": plugin,
	})
}

func plugin() { os.Exit(cmd.Process()) }

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, testcluster.Shared(t), "testdata")
}

// TestScriptsWithCollector are those in which the collector does its part.
func TestScriptsWithCollector(t *testing.T) {
	t.Parallel()
	// No controller of jobs: it would release pods that it has not made.
	runScripts(t, testcluster.Start(t, testcluster.Controllers(testcluster.Collector, "deployment-controller", "replicaset-controller")), "testdata/collector")
}

// TestScriptsAlone runs, one after the other and on a control plane of their own, those that change what every listing sees: types come and go, and break.
func TestScriptsAlone(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/alone/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(filepath.Base(script), func(t *testing.T) { runScripts(t, testcluster.Another(t, "alone", workloads), "", script) })
	}
}

func runScripts(t *testing.T, cluster *testcluster.Cluster, dir string, files ...string) {
	through, past := linkKubectl(t, cluster), pastKubectl(t, cluster)
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			ns := cluster.Namespace(env.T().(testing.TB))
			env.Setenv("NS", ns)
			env.Setenv("KUBECONFIG", cluster.Kubeconfig())
			env.Setenv("KUBECACHEDIR", filepath.Join(env.WorkDir, ".kubecache"))
			env.Setenv("KUBERC", "off")
			kubectl := past
			if dir == "testdata/collector" || throughKubectl[strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")] {
				kubectl = through
			}
			env.Setenv("PATH", kubectl+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Values["scripted"] = &scripted{cluster: cluster, namespace: ns, t: env.T().(testing.TB)}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"apply":  apply,
			"own":    own,
			"scrub":  scrub,
			"settle": settle,
			"expand": expand,
			"as":     as,
			"allow":  allow,
			"alike":  alike,
			"split":  split,
		},
	})
}

// linkKubectl makes a folder with the control plane's program under the name kubectl.
func linkKubectl(t *testing.T, cluster *testcluster.Cluster) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(cluster.Command(t.Context()).Path, filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// throughKubectl are the scripts in which kubectl itself starts the plugin, besides all of those with a collector. In the others a shell does,
// which costs less than a process of kubectl for each command.
var throughKubectl = map[string]bool{"exec_plugin": true, "delete_like_kubectl": true, "tree_deployment": true, "unfinalize_removes": true}

// pastKubectl makes a folder with a kubectl that starts the plugin as the real one would, and the real one for everything else.
func pastKubectl(t *testing.T, cluster *testcluster.Cluster) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nif [ \"$1\" = gc ]; then\n\tshift\n\texec kubectl-gc \"$@\"\nfi\nexec '" + cluster.Command(t.Context()).Path + "' kubectl \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
