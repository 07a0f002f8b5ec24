package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // as the plugin's main does

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

const (
	profiledRuns = 5
	heapEvery    = 100 * time.Millisecond
	heapRate     = 16 << 10
)

// writeProfiles profiles the tree that needs the whole cluster.
func (s *session) writeProfiles(ctx context.Context) error {
	dir, err := filepath.Abs(s.profile)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := command{
		name: "the profiler",
		args: append([]string{self, roleProfiled, dir}, wholeArgs...),
		env:  s.env(place{kubeconfig: s.kubeconfig}),
	}
	if _, err := c.output(ctx); err != nil {
		return err
	}
	say("wrote %s", filepath.Join(dir, "{cpu,heap,allocs}.pprof"))
	return nil
}

// roleProfiled runs the plugin's command line within this process, once for each of the memory's
// profiles and some times for the processor's. It takes the directory of the profiles and then the
// plugin's arguments.
const roleProfiled = "profiled"

func runProfiled(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("profiling takes a directory and the arguments of kubectl gc")
	}
	dir := args[0]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer runtime.KeepAlive(cmd.KeepHeapSmall())
	runtime.MemProfileRate = heapRate
	if err := runPlugin(ctx, args[1:]); err != nil {
		return err
	}
	if err := writeProfile(filepath.Join(dir, "allocs.pprof"), pprof.Lookup("allocs")); err != nil {
		return err
	}
	heap, err := heapAtPeak(func() error { return runPlugin(ctx, args[1:]) })
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "heap.pprof"), heap, 0o644); err != nil {
		return err
	}
	runtime.MemProfileRate = 0
	cpu, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	for range profiledRuns {
		if err := runPlugin(ctx, args[1:]); err != nil {
			return err
		}
	}
	pprof.StopCPUProfile()
	return cpu.Close()
}

func runPlugin(ctx context.Context, args []string) error {
	var stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: io.Discard, ErrOut: &stderr}
	if code := cmd.Main(ctx, streams, append([]string{"kubectl-gc"}, args...)); code != 0 {
		return fmt.Errorf("kubectl gc ended with %d: %s", code, stderr.Bytes())
	}
	return nil
}

// heapAtPeak returns the heap profile of the moment at which f had most memory in use. It collects
// the garbage each time it looks, because a heap profile knows nothing of what was allocated since.
func heapAtPeak(f func() error) ([]byte, error) {
	var peak uint64
	var profile bytes.Buffer
	ticker, done, stopped := time.NewTicker(heapEvery), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-ticker.C:
				var m runtime.MemStats
				runtime.GC()
				if runtime.ReadMemStats(&m); m.HeapAlloc > peak {
					peak = m.HeapAlloc
					profile.Reset()
					_ = pprof.Lookup("heap").WriteTo(&profile, 0) // to memory, which cannot fail
				}
			case <-done:
				return
			}
		}
	}()
	err := f()
	ticker.Stop()
	close(done)
	<-stopped
	return profile.Bytes(), err
}

func writeProfile(path string, profile *pprof.Profile) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(profile.WriteTo(f, 0), f.Close())
}
