// Package e2e runs scripts of whole commands through the real kubectl against a real API server.
package e2e

import (
	"flag"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// every is what make test-long sets: make test goes through all that a table has in each of its
// columns, and not through each pair.
var every = flag.Bool("every", false, "run every combination and not a sample")

// workloads are the controllers that make pods.
var workloads = testcluster.Controllers("deployment-controller", "replicaset-controller")

// There is no collector: the scripts show what a collector would not leave alone.
func TestMain(m *testing.M) { script.Main(m, workloads) }

// TestScripts runs those of whole commands in which nothing is done that others would see.
func TestScripts(t *testing.T) {
	// A script can take more than 10 s beside others: it runs up to dozens of commands one after the
	// other.
	t.Parallel()
	script.Run(t, testcluster.Shared(t),
		script.Scripts{Dir: "testdata", ThroughKubectl: func(name string) bool { return throughKubectl[name] }})
}

// TestScriptsWithCollector are those in which the collector does its part.
func TestScriptsWithCollector(t *testing.T) {
	t.Parallel()
	// No controller of jobs: it would release pods that it has not made.
	cluster := testcluster.Start(t,
		testcluster.Controllers(testcluster.Collector, "deployment-controller", "replicaset-controller",
			"serviceaccount-token-controller"))
	script.Run(t, cluster, script.Scripts{Dir: "testdata/collector", ThroughKubectl: func(string) bool { return true }})
}

// planesAlone is how many scripts of TestScriptsAlone run at a time. Each needs a control plane,
// which costs a start and some hundred megabytes.
const planesAlone = 2

// TestScriptsAlone runs those that change what every listing sees: types come and go, and break.
// Each has a control plane to itself while it runs, and leaves it to the next. As scripts that are
// not parallel they begin with the test: parallel ones would wait until all other tests have begun.
func TestScriptsAlone(t *testing.T) {
	// A script can take more than 10 s: it runs dozens of commands, and definitions come and go.
	t.Parallel()
	scripts, err := filepath.Glob("testdata/alone/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	queue := make(chan string, len(scripts))
	for _, file := range scripts {
		queue <- file
	}
	close(queue)
	var planes sync.WaitGroup
	for i := range planesAlone {
		plane := fmt.Sprintf("alone %d", i)
		planes.Go(func() {
			for file := range queue {
				t.Run(filepath.Base(file), func(t *testing.T) {
					script.Run(t, testcluster.Another(t, plane, workloads), script.Scripts{Files: []string{file}, InTurn: true})
				})
			}
		})
	}
	planes.Wait()
}

// TestTranscripts runs the scripts whose transcripts the documentation shows, on a control plane
// with all controllers, as a reader's would be.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	script.Run(t, testcluster.Start(t), script.Scripts{Dir: "testdata/docs", Namespace: "shop", InTurn: true, Widths: widths()})
}

// TestTranscriptsWithoutCollector are those that show what a collector would not leave alone.
func TestTranscriptsWithoutCollector(t *testing.T) {
	t.Parallel()
	cluster := testcluster.Start(t, testcluster.Controllers("namespace-controller"))
	script.Run(t, cluster,
		script.Scripts{Dir: "testdata/docs/idle", Namespace: "shop", InTurn: true, Widths: widths()})
}

// widths are those of the terminals that transcripts have to fit.
func widths() []int {
	if *every {
		return []int{0, 80, 100, 200}
	}
	return []int{80}
}

// throughKubectl are the scripts without a collector in which kubectl itself starts the plugin.
var throughKubectl = map[string]bool{"exec_plugin": true, "delete_like_kubectl": true, "tree_deployment": true,
	"unfinalize_removes": true}
