package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line of go test -json: see go doc test2json. ImportPath is that of output of the
// compiler.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// report collects what several commands of go test say. It is safe for concurrent use.
type report struct {
	mu    sync.Mutex
	out   io.Writer
	tests []timed
}

// timed is a test without subtests, and how long it took by itself, without what it waited for its
// turn.
type timed struct {
	name string
	took time.Duration
}

// read reads the events of one command to their end, and returns the command's error.
func (r *report) read(events io.Reader) error {
	outputs, parents := map[string]*strings.Builder{}, map[string]bool{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			r.print(lines.Text() + "\n") // of go itself
			continue
		}
		name := cmp.Or(e.Package, e.ImportPath)
		if e.Test != "" {
			name += " " + e.Test
		}
		if outputs[name] == nil {
			outputs[name] = &strings.Builder{}
		}
		outputs[name].WriteString(e.Output)
		if i := strings.LastIndex(name, "/"); e.Test != "" && strings.Contains(e.Test, "/") {
			parents[name[:i]] = true
		}
		switch {
		case e.Action == "pass" && e.Test != "":
			if !parents[name] {
				r.add(timed{name, time.Duration(e.Elapsed * float64(time.Second))})
			}
			delete(outputs, name)
		case e.Action == "pass":
			r.print(packageLine(outputs[name].String()))
		case e.Action == "fail" || e.Action == "build-fail" || e.Action == "skip" && e.Test != "":
			r.print(outputs[name].String())
		}
	}
	return lines.Err()
}

// packageLine is the last line of what a package that passed printed: ok, its name, and how long it
// took.
func packageLine(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "ok ") {
			last = line
		}
	}
	return last
}

func (r *report) add(t timed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tests = append(r.tests, t)
}

func (r *report) print(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = io.WriteString(r.out, text)
}

// printSlowest prints the tests that took longest.
func (r *report) printSlowest(n int) {
	slices.SortStableFunc(r.tests, func(a, b timed) int { return cmp.Compare(b.took, a.took) })
	if len(r.tests) == 0 {
		return
	}
	r.print(fmt.Sprintf("%d tests passed. The slowest:\n", len(r.tests)))
	for _, t := range r.tests[:min(n, len(r.tests))] {
		r.print(fmt.Sprintf("%8.1f s  %s\n", t.took.Seconds(), t.name))
	}
}
