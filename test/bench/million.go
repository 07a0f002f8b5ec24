package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/synthetic"
)

// roleMillion measures the commands that look at a whole cluster against a server that generates a
// million objects, and over a narrow link.
const roleMillion = "million"

// The aims, and what is measured over the link.
const (
	millionOverRaw = 1.3
	millionPeak    = 350_000_000
	narrowObjects  = 100_000
	narrowDelay    = 50 * time.Millisecond
	narrowBits     = 50_000_000 // a second
)

func benchMillion(ctx context.Context, args []string) error {
	o := options{plugin: "bin/kubectl-gc", controlplane: "bin/controlplane", kubectl: "bin/kubectl"}
	flags := flag.NewFlagSet(roleMillion, flag.ContinueOnError)
	flags.StringVar(&o.plugin, "plugin", o.plugin, "the plugin to measure; built if it is missing")
	flags.IntVar(&o.objects, "objects", 1_000_000, "how many objects to generate")
	flags.IntVar(&o.repetitions, "n", 3, "how often to measure each command")
	types := flags.Int("types", 500, "of how many types the objects are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.objects < minObjects || o.repetitions < 1 {
		return fmt.Errorf("bench %s takes flags only, -objects of at least %d and -n of at least 1", roleMillion, minObjects)
	}
	return generated(ctx, o, func(ctx context.Context, s *session) error {
		if err := s.million(ctx, synthetic.Shape{Objects: o.objects, Types: *types}); err != nil {
			return err
		}
		return s.narrow(ctx, synthetic.Shape{Objects: min(narrowObjects, o.objects), Types: *types})
	})
}

// generated measures something in a session that needs no control plane, and prints the table.
func generated(ctx context.Context, o options, do func(context.Context, *session) error) error {
	if err := build(ctx, &o.plugin, ".", "./cmd/kubectl-gc"); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kubectl-gc-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx) // ends the proxy
	defer cancel()
	s := &session{options: o, dir: dir}
	if s.meter, err = newMeter(ctx, dir); err != nil {
		return err
	}
	return errors.Join(do(ctx, s), printTable(os.Stdout, s.rows))
}

// million measures each command near the server.
func (s *session) million(ctx context.Context, shape synthetic.Shape) error {
	server := synthetic.Start(shape)
	defer server.Close()
	near := place{kubeconfig: filepath.Join(s.dir, "kubeconfig"), label: fmt.Sprintf("%d objects: ", shape.Total())}
	if err := server.WriteKubeconfig(near.kubeconfig); err != nil {
		return err
	}
	raw, err := s.raw(ctx, near)
	if err != nil {
		return err
	}
	owner := "clusterrole/" + synthetic.Owner
	if err := s.verifyGenerated(ctx, near, shape); err != nil {
		return err
	}
	rows := []*row{raw}
	for _, args := range [][]string{
		{"run", "--dry-run"}, {"check", "-A"}, {"why", "-A"}, {"tree", owner, "-o", "name"}, {"tree", "-A", "-o", "name"},
		{"delete", owner, "--dry-run"},
	} {
		r := s.row(near, "kubectl gc", s.plugin, args...)
		r.aims = []aim{ratioTo(raw, millionOverRaw), cpuRatioTo(raw), peakUnder(millionPeak)}
		rows = append(rows, r)
	}
	if err := errors.Join(s.measure(ctx, rows...), s.ask(ctx, server, rows)); err != nil {
		return err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	say("the server has %s in use", megabytes(int64(m.HeapInuse)))
	return nil
}

// verifyGenerated holds what is measured against what is generated.
func (s *session) verifyGenerated(ctx context.Context, at place, shape synthetic.Shape) error {
	c := command{name: "kubectl gc tree", args: []string{s.plugin, "tree", "clusterrole/" + synthetic.Owner, "-o", "name"},
		env: s.env(at)}
	out, err := c.output(ctx)
	if err != nil {
		return err
	}
	if got := bytes.Count(out, []byte("\n")); got != shape.BelowOwner() {
		return fmt.Errorf("the tree shows %d objects, not the %d that are generated", got, shape.BelowOwner())
	}
	return nil
}

// ask says of each row what the server had to do, by running its command once more.
func (s *session) ask(ctx context.Context, server *synthetic.Server, rows []*row) error {
	for _, r := range rows {
		server.Reset()
		if _, err := r.output(ctx); err != nil {
			return err
		}
		stats := server.Reset()
		r.aims = append(r.aims, func(*row) string {
			return fmt.Sprintf("%d requests, at most %d at a time, %s", stats.Requests, stats.InFlight, megabytes(stats.Bytes))
		})
	}
	return nil
}

// narrow measures the whole of a smaller cluster over a link that is far and narrow, with the
// compression that is chosen and without any.
func (s *session) narrow(ctx context.Context, shape synthetic.Shape) error {
	server := synthetic.Start(shape)
	defer server.Close()
	kubeconfig := filepath.Join(s.dir, "kubeconfig-small")
	if err := server.WriteKubeconfig(kubeconfig); err != nil {
		return err
	}
	far, _, err := behind(ctx, kubeconfig, s.dir, "kubeconfig-narrow", link{narrowDelay, narrowBits})
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%d objects, %s and %d Mbit/s away: ", shape.Total(), narrowDelay, narrowBits/1_000_000)
	near := s.row(place{kubeconfig, fmt.Sprintf("%d objects: ", shape.Total())}, "kubectl gc", s.plugin, "run",
		"--dry-run")
	raw, err := s.raw(ctx, place{far, at})
	if err != nil {
		return err
	}
	chosen := s.row(place{far, at}, "kubectl gc", s.plugin, "run", "--dry-run")
	chosen.aims = []aim{ratioTo(raw, millionOverRaw)}
	plain := s.row(place{far, at}, "kubectl gc", s.plugin, "run", "--dry-run", "--disable-compression")
	plain.aims = []aim{ratioTo(raw, 0)}
	s.repetitions = min(s.repetitions, 2)
	return errors.Join(s.measure(ctx, near, raw, chosen, plain), s.ask(ctx, server, []*row{near, raw, chosen, plain}))
}
