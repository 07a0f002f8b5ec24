package faults

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// combination is a request of a scenario and the fault that it meets.
type combination struct {
	scenario *scenario
	request  request
	nth      int // 0 for each time
	fault    fault
}

func (c combination) String() string {
	time := "each time"
	if c.nth > 0 {
		time = fmt.Sprintf("time %d", c.nth)
	}
	return fmt.Sprintf("%s / %s, %s / %s", c.scenario.name, c.request.key, time, c.fault.name)
}

// total counts what ran in this process.
var total counts

type counts struct {
	mu                sync.Mutex
	combinations      int
	met               int
	wrong             int
	commands          map[string]bool
	requests, answers map[string]bool
	slowest           time.Duration
}

func (n *counts) add(c combination, out *outcome, wrong bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.commands == nil {
		n.commands, n.requests, n.answers = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	n.combinations++
	if out.met > 0 {
		n.met++
	}
	if wrong {
		n.wrong++
	}
	n.commands[c.scenario.name], n.requests[c.request.key], n.answers[c.fault.name] = true, true, true
	n.slowest = max(n.slowest, out.took)
}

func (n *counts) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fmt.Sprintf(
		"ran %d combinations (%d in which the fault was met) of %d commands, %d requests and %d faults: %d went wrong; the longest took %s",
		n.combinations, n.met, len(n.commands), len(n.requests), len(n.answers), n.wrong, n.slowest)
}

// combinations are those of a scenario: each request of the healthy run, the first time, the second
// time and each time that it is sent, with each fault that it can meet; a command without an end
// never comes to what it is to do if that is each time. A list of a type of which the world has
// nothing, and a review, meet one fault after the other and not each of them all: what they meet is
// another one in each scenario.
func (s *scenario) combinations(healthy []request, turn int) []combination {
	sent := map[string]int{}
	var first []request
	for _, q := range healthy {
		if sent[q.key]++; sent[q.key] == 1 {
			first = append(first, q)
		}
	}
	slices.SortFunc(first, func(a, b request) int { return strings.Compare(a.key, b.key) })
	if s.slow {
		first = slices.DeleteFunc(first, func(q request) bool { return q.class != write && q.class != watch })
	}
	var found []combination
	for i, q := range first {
		var fit []fault
		for _, f := range faults {
			if f.on(q) {
				fit = append(fit, f)
			}
		}
		if s.dull(q) {
			for _, step := range []int{0, 7} {
				found = append(found, combination{s, q, 1, fit[(i+turn+step)%len(fit)]})
			}
			continue
		}
		times := min(sent[q.key], 2)
		if q.class == get {
			times = 1
		}
		for _, f := range fit {
			for nth := range times + 1 {
				if nth == 0 && (s.endless && q.class != watch || f.slow && q.class != watch || sent[q.key] == 1 &&
					q.class != watch && q.class != write) {
					continue
				}
				found = append(found, combination{s, q, nth, f})
			}
		}
	}
	return found
}

// dull reports whether a request is one of many that are alike.
func (s *scenario) dull(q request) bool {
	if q.class == review {
		return true
	}
	if q.class != list {
		return false
	}
	interesting := q.resource == "namespaces" || q.resource == "customresourcedefinitions" || q.resource == "apiservices"
	for _, k := range kinds {
		interesting = interesting || k.Resource == q.resource && k.Group == q.group
	}
	return !interesting
}

// TestEveryCommandSurvivesEveryAnswer breaks one answer of the server at a time, in each way that
// fits it. A command then says that it does not know, or does what it would have done: it deletes
// nothing else and calls nothing complete that is not. make test takes a sample of the
// combinations, and make test-long all.
func TestEveryCommandSurvivesEveryAnswer(t *testing.T) {
	// It takes more than 10 s: a command runs for each fault of the sample.
	plain := testcluster.Shared(t)
	define(t, plain)
	collected := sync.OnceValue(func() *testcluster.Cluster {
		c := testcluster.Another(t, "collector", testcluster.NoControllers())
		define(t, c)
		c.StartControllers(t, testcluster.Collector) // which knows the type from the start
		return c
	})
	chosen := slices.DeleteFunc(slices.Clone(scenarios), func(s *scenario) bool {
		return !strings.Contains(s.name, *only) || !everything() && (s.slow || s.more && *sample < large)
	})
	for i, s := range chosen {
		s.json = len(s.names) == 0
		t.Run(s.name, func(t *testing.T) {
			if !s.alone && !everything() {
				t.Parallel()
			}
			c := plain
			if s.collector {
				c = collected()
			}
			s.test(t, c, i, len(chosen))
		})
	}
}

// large is a sample with some combinations of every command.
const large = 500

// everything reports whether all combinations run: one scenario after the other, each with several
// runners. Of a sample each has one.
func everything() bool { return *all || *matches != "" }

// test runs the scenario without a fault, and then with each of its faults, or with its part of the
// sample.
func (s *scenario) test(t *testing.T, c *testcluster.Cluster, turn, of int) {
	k := newRunner(t, c)
	defer k.clear()
	healthy := k.healthy(s)
	if t.Failed() {
		return
	}
	every := s.combinations(healthy.requests, turn)
	todo := s.choose(every, turn, of)
	t.Logf("%d combinations of %d", len(todo), len(every))
	work := make(chan combination, len(todo)) // so that nobody waits for a runner that failed
	var group sync.WaitGroup
	runners := []*runner{k}
	for len(runners) < *workers && everything() && !s.alone && len(todo) > len(runners) {
		other := newRunner(t, c)
		defer other.clear()
		runners = append(runners, other)
	}
	for _, k := range runners {
		group.Go(func() {
			for one := range work {
				k.check(one, healthy)
			}
		})
	}
	for _, one := range todo {
		work <- one
	}
	close(work)
	group.Wait()
}

// healthy runs the scenario without a fault.
func (k *runner) healthy(s *scenario) *outcome {
	k.t.Helper()
	if s.endless {
		// What it comes to is found out by the same command with an end.
		ends := *s
		ends.args = slices.DeleteFunc(slices.Clone(s.args), func(arg string) bool { return arg == "--watch" })
		end := k.run(&ends, injection{}, nil)
		out := k.run(s, injection{}, end)
		if wrong := s.judge(k.world, end, out, combination{}); len(wrong) > 0 || out.code == 1 {
			k.t.Errorf("without a fault: exit code %d\n%s\n%s%s", out.code, strings.Join(wrong, "\n"), out.stdout, out.stderr)
		}
		return out
	}
	out := k.run(s, injection{}, nil)
	if s.waits && out.took > out.timeout {
		// a slow machine has cut it short: what it comes to is seen with more time
		out = k.run(s, injection{}, out)
	}
	if wrong := s.judge(k.world, out, out, combination{}); len(wrong) > 0 || out.code == 1 || out.said != nil &&
		!out.said.complete {
		k.t.Errorf("without a fault: exit code %d\n%s\n%s%s", out.code, strings.Join(wrong, "\n"), out.stdout, out.stderr)
	}
	k.t.Logf("%d requests, exit code %d, %s", len(out.requests), out.code, out.took)
	return out
}

func (k *runner) check(c combination, healthy *outcome) {
	out := k.run(c.scenario, injection{c.request.key, c.nth, c.fault.of(c.request), c.fault.name == "hang"}, healthy)
	wrong := c.scenario.judge(k.world, healthy, out, c)
	total.add(c, out, len(wrong) > 0)
	if len(wrong) > 0 {
		k.t.Errorf("%s\n\t%s\n\texit code %d after %s, stderr: %s", c, strings.Join(wrong, "\n\t"), out.code, out.took,
			shortened(out.stderr))
	}
}

func shortened(text string) string {
	const most = 400
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// choose takes the scenario's part of the sample, always the same one, with the faults one after
// the other.
func (s *scenario) choose(every []combination, turn, of int) []combination {
	if *matches != "" {
		pattern := regexp.MustCompile(*matches)
		return slices.DeleteFunc(every, func(c combination) bool { return !pattern.MatchString(c.String()) })
	}
	if everything() {
		return every
	}
	// A write that never succeeds is waited for until the time-out, and so is a watch that never
	// opens by a command without an end: make test-faults has these.
	every = slices.DeleteFunc(every, func(c combination) bool {
		return c.fault.slow || c.nth == 0 && (s.endless || s.waits && c.request.class == write)
	})
	part := max(1, *sample/of)
	step := max(1, len(every)/part)
	var chosen []combination
	for i := turn % step; i < len(every); i += step {
		chosen = append(chosen, every[i])
	}
	return chosen
}
