package env_test

import (
	"bytes"
	"errors"
	"testing"

	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// TestNoLineOfKlogIsPrinted: an error that a library logs is a warning in words, on one line, and
// the rest is left out. It changes what the whole process logs, and is not parallel.
func TestNoLineOfKlogIsPrinted(t *testing.T) {
	var out bytes.Buffer
	env.WordLog(&out)
	defer klog.ClearLogger()
	klog.ErrorS(errors.New("no such file"), "Loading the certificate failed", "file", "x")
	klog.Errorf("failed %s\n", "\x1b[31m")
	klog.Infof("Waited for 1s due to client-side throttling")
	klog.InfoS("Config not found", "file", "x")
	if want := "Warning: Loading the certificate failed: no such file\nWarning: failed ^[[31m\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
