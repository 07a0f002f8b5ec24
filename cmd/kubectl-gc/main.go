// Command kubectl-gc is the kubectl plugin kubectl gc.
package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // every authentication that a kubeconfig can name

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() { os.Exit(cmd.Process()) }
