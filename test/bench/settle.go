package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	settleEvery = 5 * time.Second // asking is work, too: the metrics of 500 types are 30 MB
	settleFor   = 2 * time.Minute
	// idle is how much of a processor a server takes that has nothing to do but to answer that.
	idle = 0.25
)

// settle waits until the server has digested what it was given last: after many objects and more so
// after many types it goes on working for a while, at the cost of whatever is measured beside.
func settle(ctx context.Context, kubeconfig string) error {
	read, err := metricsReader(kubeconfig)
	if err != nil {
		return err
	}
	last, at := -1.0, time.Time{}
	err = wait.PollUntilContextTimeout(ctx, settleEvery, settleFor, true, func(ctx context.Context) (bool, error) {
		now, err := read(ctx)
		if err != nil {
			return false, err
		}
		cpu := now.cpu
		load, first := (cpu-last)/time.Since(at).Seconds(), last < 0
		last, at = cpu, time.Now()
		return !first && load < idle, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		say("the server is still at work after %s; the figures will show it", settleFor)
		return nil
	}
	return err
}

// processorSeconds finds the processor time of the server in its metrics.
func processorSeconds(metrics []byte) (float64, error) {
	lines := bufio.NewScanner(bytes.NewReader(metrics))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "process_cpu_seconds_total "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.New("the server's metrics do not say how much processor time it took")
}
