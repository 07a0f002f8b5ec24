// Controlplane is a real Kubernetes control plane in one file: etcd, kube-apiserver,
// kube-controller-manager and kubectl, each with its own command line, and commands that run them
// together on loopback.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/command"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

func main() {
	os.Exit(run())
}

func run() int {
	if err := process.Adopt(); err != nil {
		fmt.Fprintf(os.Stderr, "controlplane: %v\n", err)
		return 1
	}
	useModuleVersion()
	if component, args := chosenComponent(os.Args); component != nil {
		os.Args = args
		return component()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := command.New().ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// chosenComponent finds the program that args ask for, by the first argument or by the name that
// this one was called by, and gives the arguments that it is to see.
func chosenComponent(args []string) (component func() int, seen []string) {
	if name := filepath.Base(args[0]); components[name] != nil {
		return components[name], args
	}
	if len(args) > 1 {
		return components[args[1]], args[1:]
	}
	return nil, nil
}
