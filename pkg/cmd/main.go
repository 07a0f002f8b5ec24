package cmd

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// completionShim is what kubectl looks for when it completes the arguments of a plugin called kubectl-gc.
const completionShim = "kubectl_complete-gc"

// Main runs one command and returns the exit code. Args are the whole command line: called by the name of the completion
// shim, the program completes its arguments instead of running them.
func Main(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
	// A listing makes garbage for a second and then ends; the heap had better stay near what is kept.
	debug.SetGCPercent(50)
	root := NewRoot(streams)
	rest := args[1:]
	if strings.TrimSuffix(filepath.Base(args[0]), ".exe") == completionShim {
		rest = append([]string{"__complete"}, rest...)
	}
	root.SetArgs(rest)
	if err := root.ExecuteContext(ctx); err != nil {
		return fail(ctx, streams, err)
	}
	return 0
}
