package cmd

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// spareHeap counts as in use when the collector of garbage looks at how much there is, so that a
// command on a small cluster, whose garbage is a few megabytes, ends before any is collected.
const spareHeap = 16 << 20

// completes begins the name of what kubectl looks for when it completes the arguments of a plugin.
const completes = "kubectl_complete-"

// KeepHeapSmall sets when this process collects its garbage: a listing makes garbage for a second
// and then ends, so the heap had better stay near what is kept, which has few pointers to follow. A
// quarter of next to nothing would be collected again and again: spare is to be kept alive, and since
// nobody writes to it, it is no memory.
func KeepHeapSmall() (spare []byte) {
	debug.SetGCPercent(25)
	return make([]byte, spareHeap)
}

// Process runs the command that this process was started as, and returns the exit code. The first
// signal ends the command's context; a second one ends the process as if nobody had asked for
// signals.
func Process() int {
	defer runtime.KeepAlive(KeepHeapSmall())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	// Nobody receives it: that a signal is asked for keeps a write to a closed pipe from ending the
	// process in the middle of what it does (os/signal). Main sees the write fail.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env.WordLog(os.Stderr)
	args := os.Args
	os.Args = []string{"kubectl"} // what errors of cli-runtime name in "kubectl get"
	return Main(ctx, genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, args)
}

// Main runs one command and returns the exit code. Args are the whole command line: called by the
// name of the completion shim, the program completes its arguments instead of running them. When
// ctx ends, so do all requests, but for a write that is under way: its answer is waited for a
// little longer. It also ends when nobody reads what is printed any more.
func Main(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
	ctx, streams, unread := whileRead(ctx, streams)
	defer unread()
	ctx, bind := cluster.Bind(ctx)
	e := newEnv(streams)
	root := newRoot(e, bind)
	e.Called = calledAs(args[0])
	rename(root, e.Called)
	rest := args[1:]
	if strings.HasPrefix(filepath.Base(args[0]), completes) {
		rest = append([]string{"__complete"}, rest...)
	}
	e.Typed = rest
	root.SetArgs(rest)
	if err := root.ExecuteContext(ctx); err != nil {
		return fail(ctx, e, err)
	}
	return 0
}
