package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-gc/kubectl-gc/test/synthetic"
)

// roleSnapshot measures what saving a cluster costs, and asking the file.
const roleSnapshot = "snapshot"

// The aims.
const (
	snapshotOverRun    = 1.3
	snapshotFile       = 6_000_000 // bytes for each 100,000 objects
	snapshotPerObjects = 100_000
)

func benchSnapshot(ctx context.Context, args []string) error {
	o := options{plugin: "bin/kubectl-gc"}
	flags := flag.NewFlagSet(roleSnapshot, flag.ContinueOnError)
	flags.StringVar(&o.plugin, "plugin", o.plugin, "the plugin to measure; built if it is missing")
	flags.IntVar(&o.repetitions, "n", 3, "how often to measure each command")
	types := flags.Int("types", 500, "of how many types the objects are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.repetitions < 1 {
		return fmt.Errorf("bench %s takes flags only, -n of at least 1", roleSnapshot)
	}
	return generated(ctx, o, func(ctx context.Context, s *session) error {
		for _, objects := range []int{snapshotPerObjects, 1_000_000} {
			if err := s.snapshot(ctx, synthetic.Shape{Objects: objects, Types: *types}); err != nil {
				return err
			}
		}
		return nil
	})
}

// again is the row of the collector's loop on a snapshot with what has changed since it was taken.
func (s *session) again(ctx context.Context, p place) (*row, error) {
	file := filepath.Join(s.dir, "again.snapshot")
	if _, err := os.Stat(file); err != nil {
		save := command{name: "kubectl gc snapshot", args: []string{s.plugin, "snapshot", file}, env: s.env(p)}
		if _, err := save.output(ctx); err != nil {
			return nil, err
		}
	}
	again := s.row(p, "kubectl gc", s.plugin, "run", "--dry-run=client", "--from", file, "--refresh")
	again.label = p.label + "kubectl gc run --dry-run --from FILE --refresh"
	return again, nil
}

// snapshot measures the commands on a generated cluster, and on a snapshot of it.
func (s *session) snapshot(ctx context.Context, shape synthetic.Shape) error {
	server := synthetic.Start(shape)
	defer server.Close()
	near := place{filepath.Join(s.dir, fmt.Sprint("kubeconfig-", shape.Objects)), fmt.Sprintf("%d objects: ", shape.Total())}
	if err := server.WriteKubeconfig(near.kubeconfig); err != nil {
		return err
	}
	file := filepath.Join(s.dir, fmt.Sprint(shape.Objects, ".snapshot"))
	save := command{name: "kubectl gc snapshot", args: []string{s.plugin, "snapshot", file}, env: s.env(near)}
	if _, err := save.output(ctx); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	size := int(info.Size()) * snapshotPerObjects / shape.Total()
	say("the file has %s, %d bytes for each %d objects (aim %d: %s)", megabytes(info.Size()), size, snapshotPerObjects,
		snapshotFile, met(size <= snapshotFile))
	run := s.row(near, "kubectl gc", s.plugin, "run", "--dry-run=client")
	saving := s.row(near, "kubectl gc", s.plugin, "snapshot", "-")
	saving.aims = []aim{ratioTo(run, snapshotOverRun), cpuRatioTo(run), peakUnder(millionPeak)}
	rows := []*row{run, saving}
	for _, args := range [][]string{{"run", "--dry-run=client"}, {"tree", "clusterrole/" + synthetic.Owner, "-o", "name"}, {"why", "-A"}} {
		r := s.row(near, "kubectl gc", s.plugin, append(args, "--from", file)...)
		r.aims = []aim{ratioTo(run, 0), peakUnder(millionPeak)}
		rows = append(rows, r)
	}
	return s.measure(ctx, rows...)
}
