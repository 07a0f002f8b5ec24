package main

import (
	"os"
	_ "time/tzdata" // time zones of CronJobs

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // what kubectl's kubeconfigs may ask for
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/manager"
)

// components are the programs in this one, by their names. Each does what upstream's own main does,
// with os.Args set as if it had been called by that name, and gives its exit code; the controller
// manager has a few of upstream's controllers.
var components = map[string]func() int{
	"etcd":                    runEtcd,
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(manager.New()) },
	"kubectl":                 runKubectl,
}

func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func runKubectl() int {
	// Plugins are looked for while the command is built, so the log level has to be known before.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints err and exits with its code
	}
	return 0
}
