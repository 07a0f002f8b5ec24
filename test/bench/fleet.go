package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/test/synthetic"
)

// roleFleet measures what asking many clusters costs.
const roleFleet = "fleet"

// fleetWave clusters are asked at a time. fleetOverWaves is the aim: how much longer all take than as
// many waves as they are.
const (
	fleetWave      = 16
	fleetObjects   = 5_000
	fleetOverWaves = 1.5
)

func benchFleet(ctx context.Context, args []string) error {
	o := options{plugin: "bin/kubectl-gc"}
	flags := flag.NewFlagSet(roleFleet, flag.ContinueOnError)
	flags.StringVar(&o.plugin, "plugin", o.plugin, "the plugin to measure; built if it is missing")
	flags.IntVar(&o.repetitions, "n", 3, "how often to measure each command")
	clusters := flags.Int("clusters", 200, "how many clusters to ask")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.repetitions < 1 || *clusters < fleetWave {
		return fmt.Errorf("bench %s takes flags only, -n of at least 1, and -clusters of at least %d", roleFleet, fleetWave)
	}
	return generated(ctx, o, func(ctx context.Context, s *session) error { return s.fleet(ctx, *clusters) })
}

// fleet measures a wave of clusters, and all of them.
func (s *session) fleet(ctx context.Context, clusters int) error {
	config := clientcmdapi.NewConfig()
	for i := range clusters {
		server := synthetic.Start(synthetic.Shape{Objects: fleetObjects, Types: 100, Salt: i})
		defer server.Close()
		name := fmt.Sprintf("c%05d", i)
		rest := server.Config()
		config.Clusters[name] = &clientcmdapi.Cluster{Server: rest.Host, CertificateAuthorityData: rest.CAData}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	}
	all := place{filepath.Join(s.dir, "kubeconfig-fleet"),
		fmt.Sprintf("%d clusters of %d objects: ", clusters, fleetObjects)}
	if err := clientcmd.WriteToFile(*config, all.kubeconfig); err != nil {
		return err
	}
	var rows []*row
	for _, args := range [][]string{{"check", "-A", "-o", "ndjson"}, {"why", "-A"}} {
		ask := func(contexts string) *row {
			return s.row(all, "kubectl gc", s.plugin, append(args, "--exit-zero", "--contexts", contexts)...)
		}
		wave, each := ask("c0000?,c0001[0-5]"), ask("c*")
		each.aims = []aim{ratioTo(wave, fleetOverWaves*float64(clusters)/fleetWave), peakUnder(millionPeak)}
		rows = append(rows, wave, each)
	}
	return s.measure(ctx, rows...)
}
