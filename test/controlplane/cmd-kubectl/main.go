// Cmd-kubectl is kubectl by itself. The control plane's binary holds the same one, but starts
// slower than a kubectl does that people use: tests call it often, and benchmarks compare starting
// times too.
package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // every authentication that a kubeconfig can name
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	// Plugins are looked for while the command is built, so the log level has to be known before.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err) // prints err and exits with its code
	}
}
