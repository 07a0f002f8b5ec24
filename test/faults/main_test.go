package faults

import (
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	all     = flag.Bool("all", false, "run every combination and not a sample")
	sample  = flag.Int("sample", 80, "number of combinations in a sample, about")
	only    = flag.String("only", "", "run only the scenarios whose name contains this")
	matches = flag.String("combination", "", "run the combinations whose name matches this regular expression")
	waiting = flag.Duration("waiting", 20*time.Second, "time-out of the commands that have one")
	workers = flag.Int("workers", 4,
		"number of commands that run at the same time, where they do not see each other's objects")
)

// TestMain prints after the tests how many combinations ran: go test shows what a test logs only if
// it fails.
func TestMain(m *testing.M) {
	os.Exit(testcluster.Wrap(runnerFunc(func() int {
		// client-go logs what the commands tell in their own words.
		klogFlags := flag.NewFlagSet("klog", flag.ContinueOnError)
		klog.InitFlags(klogFlags)
		_ = klogFlags.Set("stderrthreshold", "FATAL")
		klog.LogToStderr(false)
		klog.SetOutput(io.Discard)
		code := m.Run()
		if total.combinations > 0 {
			fmt.Println(total.String())
		}
		return code
	}), testcluster.NoControllers()).Run())
}

type runnerFunc func() int

func (f runnerFunc) Run() int { return f() }
