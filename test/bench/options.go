package main

import (
	"flag"
	"fmt"
	"time"
)

// options are the flags.
type options struct {
	plugin, controlplane, kubectl string

	kubeconfig  string
	keep        bool
	objects     int
	writers     int
	crds        int
	repetitions int
	delay       time.Duration
	profile     string
	goBench     bool
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.plugin, "plugin", "bin/kubectl-gc", "the plugin to measure; built if it is missing")
	flags.StringVar(&o.controlplane, "controlplane", "bin/controlplane",
		"the control plane to load; built if it is missing")
	flags.StringVar(&o.kubectl, "kubectl", "bin/kubectl", "the kubectl to compare with; built if it is missing")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "a cluster that was loaded before, by -keep, instead of a new one")
	flags.BoolVar(&o.keep, "keep", false, "leave the control plane running and say where it is")
	flags.IntVar(&o.objects, "objects", 100_000, "how many objects to load")
	flags.IntVar(&o.writers, "writers", 32, "how many objects to create at a time")
	flags.IntVar(&o.crds, "crds", 500,
		"how many CustomResourceDefinitions to install for the last measurements; 0 leaves them out")
	flags.IntVar(&o.repetitions, "n", 3, "how often to measure each command")
	flags.DurationVar(&o.delay, "delay", 50*time.Millisecond,
		"the round trip to put between client and server; 0 leaves those measurements out")
	flags.StringVar(&o.profile, "profile", "",
		"also write CPU and heap profiles of the listing of the whole cluster to this directory")
	flags.BoolVar(&o.goBench, "go-bench", true,
		"also run the Go benchmarks of the packages that hold the graph and the decoder")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q: bench takes flags only", flags.Arg(0))
	case o.objects < minObjects:
		return o, fmt.Errorf("-objects %d is too small: a deployment with its pods alone needs %d", o.objects, minObjects)
	case o.repetitions < 1 || o.writers < 1 || o.crds < 0 || o.delay < 0:
		return o, fmt.Errorf("-n and -writers must be at least 1, -crds and -delay not negative")
	}
	return o, nil
}
