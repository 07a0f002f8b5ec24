package browser

import (
	"os"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) {
	code := testcluster.Wrap(m).Run()
	stopChromium()
	os.Exit(code)
}
