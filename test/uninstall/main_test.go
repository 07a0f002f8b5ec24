// Package uninstall uninstalls operators on a real control plane, as kubectl delete does, which
// hangs, and in stages, which ends.
package uninstall

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) {
	script.Main(m, testcluster.Controllers(testcluster.Collector, "namespace-controller"))
}
