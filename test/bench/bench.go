package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// inSession does something in a session with a control plane that open gives, and ends both.
func inSession(ctx context.Context, o options, open func(context.Context, options) (*plane, error),
	do func(context.Context, *session, *plane) error) (err error) {
	if err := o.binaries(ctx); err != nil {
		return err
	}
	p, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	dir, err := os.MkdirTemp("", "kubectl-gc-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx) // ends the delay proxy
	defer cancel()
	s, err := newSession(ctx, o, p.kubeconfig, dir)
	if err != nil {
		return err
	}
	return do(ctx, s, p)
}

// bench does what the flags say and prints the table.
func bench(ctx context.Context, o options) error {
	return inSession(ctx, o, openPlane, func(ctx context.Context, s *session, p *plane) error { return s.bench(ctx, p) })
}

func (s *session) bench(ctx context.Context, p *plane) error {
	if err := s.removeDefinitions(ctx); err != nil { // what an interrupted run left
		return err
	}
	if err := s.verify(ctx); err != nil {
		return err
	}
	err := s.measureAll(ctx)
	if err == nil {
		err = s.serverCosts(ctx, &s.costs)
	}
	if p.stays {
		err = errors.Join(err, s.removeDefinitions(ctx))
	}
	if err := errors.Join(err, printTable(os.Stdout, s.rows)); err != nil {
		return err
	}
	fmt.Printf("\n%s", s.costs.String())
	if s.profile != "" {
		if err := s.writeProfiles(ctx); err != nil {
			return err
		}
	}
	if s.goBench {
		return goBenchmarks(ctx, os.Stdout)
	}
	return nil
}

// The aims.
const (
	wholeOverRaw      = 1.3
	wholePeak         = 130_000_000
	oneOverPods       = 1.2
	wideOverNames     = 2.0
	allOverNames      = 2.5
	allJSONOverNames  = 2.0
	allJSONPeak       = 150_000_000
	wholeDelayCosts   = 3 * time.Second
	oneManyTypes      = time.Second
	oneManyTypesDelay = 2 * time.Second
)

// againWall is for the second question about a cluster.
const againWall = 300 * time.Millisecond

// measureAll runs everything, in the order of the table.
func (s *session) measureAll(ctx context.Context) error {
	near := place{s.kubeconfig, ""}
	raw, err := s.raw(ctx, near)
	if err != nil {
		return err
	}
	whole, run, why, check, one, pods := s.whole(near), s.run(near), s.why(near), s.check(near), s.one(near), s.pods(near)
	whole.aims = []aim{ratioTo(raw, wholeOverRaw), peakUnder(wholePeak)}
	run.aims, why.aims, check.aims = whole.aims, whole.aims, whole.aims
	one.aims = []aim{ratioTo(pods, oneOverPods)}
	save := s.row(near, "kubectl gc", s.plugin, "snapshot", "-")
	save.aims = []aim{ratioTo(run, snapshotOverRun), peakUnder(wholePeak)}
	if err := s.measure(ctx, raw, whole, run, why, check, one, pods, save); err != nil {
		return err
	}
	again, err := s.again(ctx, near)
	if err != nil {
		return err
	}
	again.aims = []aim{wallUnder(againWall)}
	if err := s.measure(ctx, again); err != nil {
		return err
	}
	if err := s.manyRows(ctx, near); err != nil {
		return err
	}
	if err := s.peers(ctx); err != nil {
		return err
	}
	far := place{s.farKubeconfig, fmt.Sprintf("%s away: ", s.delay)}
	if s.delay > 0 {
		rawFar, err := s.raw(ctx, far)
		if err != nil {
			return err
		}
		wholeFar, oneFar, podsFar := s.whole(far), s.one(far), s.pods(far)
		againFar, err := s.again(ctx, far)
		if err != nil {
			return err
		}
		againFar.aims = []aim{ratioTo(wholeFar, 0)}
		wholeFar.aims = []aim{moreThan(whole, wholeDelayCosts)}
		oneFar.aims = []aim{ratioTo(podsFar, 0)}
		if err := s.measure(ctx, rawFar, wholeFar, againFar, oneFar, podsFar); err != nil {
			return err
		}
	}
	if s.crds > 0 {
		return s.measureManyTypes(ctx, near, far)
	}
	return nil
}

// manyRows measures trees of which each row is printed with its READY and STATUS, beside their
// names alone.
func (s *session) manyRows(ctx context.Context, near place) error {
	wideNames, wide := s.wide(near, "-o", "name"), s.wide(near)
	allNames, all, allJSON := s.everything(near, "-o", "name"), s.everything(near), s.everything(near, "-o", "json")
	wide.aims = []aim{ratioTo(wideNames, wideOverNames)}
	all.aims = []aim{ratioTo(allNames, allOverNames)}
	allJSON.aims = []aim{ratioTo(allNames, allJSONOverNames), peakUnder(allJSONPeak)}
	return s.measure(ctx, wideNames, wide, allNames, all, allJSON)
}

// measureManyTypes installs the CustomResourceDefinitions and measures one deployment beside them.
func (s *session) measureManyTypes(ctx context.Context, near, far place) error {
	if err := s.installDefinitions(ctx); err != nil {
		return err
	}
	many := fmt.Sprintf("%d CRDs, ", s.crds)
	near.label = many + "near: "
	one := s.one(near)
	one.aims = []aim{wallUnder(oneManyTypes)}
	if err := s.measure(ctx, one); err != nil || s.delay == 0 {
		return err
	}
	far.label = many + far.label
	oneFar := s.one(far)
	oneFar.aims = []aim{wallUnder(oneManyTypesDelay)}
	return s.measure(ctx, oneFar)
}
