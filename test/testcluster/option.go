package testcluster

import "strings"

// Collector is the garbage collector's name among the controllers.
const Collector = "garbage-collector-controller"

// Option changes how a control plane is started.
type Option func(*options)

type options struct {
	flags []string
}

// Controllers runs these controllers, as kube-controller-manager names them, instead of the usual
// ones.
func Controllers(names ...string) Option {
	return flag("--controllers=" + strings.Join(names, ","))
}

// NoControllers runs none: nothing collects, nothing ends a namespace, a Deployment gets no
// ReplicaSet.
func NoControllers() Option { return flag("--controllers=none") }

// APIServerArgs adds flags of kube-apiserver.
func APIServerArgs(args ...string) Option { return flags("--apiserver-arg=", args) }

// ControllersArgs adds flags of kube-controller-manager.
func ControllersArgs(args ...string) Option { return flags("--controllers-arg=", args) }

func flag(text string) Option { return flags("", []string{text}) }

func flags(prefix string, args []string) Option {
	return func(o *options) {
		for _, arg := range args {
			o.flags = append(o.flags, prefix+arg)
		}
	}
}
