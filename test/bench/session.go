package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/dynamic"
)

// session measures one loaded cluster.
type session struct {
	options
	kubeconfig, farKubeconfig string
	dir                       string
	dynamic                   dynamic.Interface
	meter                     meter
	namespace, deployment     string
	rows                      []*row
	costs                     bytes.Buffer // the table of what the server pays
}

// place is where a command is run: the kubeconfig says how far from the cluster.
type place struct{ kubeconfig, label string }

// newSession prepares the measuring of a cluster and sends nothing to it. What it writes goes to
// the directory.
func newSession(ctx context.Context, o options, kubeconfig, dir string) (*session, error) {
	s := &session{options: o, kubeconfig: kubeconfig, dir: dir}
	s.namespace, s.deployment = shapeOf(o.objects).deploymentName(0)
	config, err := clientConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if s.meter, err = newMeter(ctx, dir); err != nil {
		return nil, err
	}
	if o.delay > 0 {
		s.farKubeconfig, _, err = behind(ctx, kubeconfig, dir, "kubeconfig-far", link{roundTrip: o.delay})
	}
	return s, err
}

// env makes a command use the place's cluster and a discovery cache that nothing else writes to.
func (s *session) env(p place) []string {
	return []string{"KUBECONFIG=" + p.kubeconfig, "KUBECACHEDIR=" + filepath.Join(s.dir, "cache")}
}

func (s *session) add(r *row) *row {
	s.rows = append(s.rows, r)
	return r
}

// raw is the row of the bytes alone; how many there are is found out by reading them.
func (s *session) raw(ctx context.Context, p place) (*row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := command{name: "raw bytes", args: []string{self, roleRaw}, env: s.env(p)}
	size, err := c.output(ctx)
	if err != nil {
		return nil, err
	}
	label := fmt.Sprintf("%sraw bytes, %s", p.label, bytes.TrimSpace(size))
	return s.add(&row{command: c, label: label}), nil
}

var wholeArgs = []string{"tree", "clusterrole/" + rootName}

// whole is the row of a tree that can have branches anywhere in the cluster.
func (s *session) whole(p place) *row {
	return s.row(p, "kubectl gc", s.plugin, wholeArgs...)
}

// wide is the row of a tree with thousands of rows in all namespaces.
func (s *session) wide(p place, args ...string) *row {
	return s.row(p, "kubectl gc", s.plugin, append([]string{"tree", "clusterrole/" + wideName}, args...)...)
}

// everything is the row of a tree of all objects.
func (s *session) everything(p place, args ...string) *row {
	return s.row(p, "kubectl gc", s.plugin, append([]string{"tree", "-A"}, args...)...)
}

// run is the row of the collector's loop, which finds nothing to collect in what was loaded.
func (s *session) run(p place) *row {
	return s.row(p, "kubectl gc", s.plugin, "run", "--dry-run")
}

// why is the row of a look at all of the cluster in which nothing is stuck.
func (s *session) why(p place) *row {
	return s.row(p, "kubectl gc", s.plugin, "why", "-A")
}

// check is the row of a look at all owner references, none of which is wrong.
func (s *session) check(p place) *row {
	return s.row(p, "kubectl gc", s.plugin, "check", "-A")
}

// one is the row of a tree that can only have branches in its namespace.
func (s *session) one(p place) *row {
	return s.row(p, "kubectl gc", s.plugin, s.oneArgs()...)
}

func (s *session) oneArgs() []string {
	return []string{"tree", "deployment/" + s.deployment, "-n", s.namespace}
}

// pods is the row of kubectl's own listing of the same namespace.
func (s *session) pods(p place) *row {
	return s.row(p, "kubectl", s.kubectl, "get", "pods", "-n", s.namespace)
}

func (s *session) row(p place, name, program string, args ...string) *row {
	name = strings.Join(append([]string{name}, args...), " ")
	return s.add(&row{
		command: command{name: name, args: append([]string{program}, args...), env: s.env(p)},
		label:   p.label + name,
	})
}

// measure runs the rows' commands in turn, so that what disturbs the machine disturbs all of them.
// The first round, which fills caches, does not count.
func (s *session) measure(ctx context.Context, rows ...*row) error {
	for round := range s.repetitions + 1 {
		for _, r := range rows {
			say("%d/%d %s", round, s.repetitions, r.label)
			if s.dynamic != nil {
				if err := s.stir(ctx); err != nil {
					return err
				}
			}
			u, err := s.meter.run(ctx, r.command)
			if err != nil {
				return err
			}
			if round > 0 {
				r.runs = append(r.runs, u)
			}
		}
	}
	return nil
}

// verify holds the trees that are measured against what was loaded: a wrong answer is no fast one.
func (s *session) verify(ctx context.Context) error {
	for _, tree := range []struct {
		args []string
		want int
	}{
		{wholeArgs, 1 + rootDependents},
		{s.oneArgs(), perDeployment},
		{[]string{"tree", "clusterrole/" + wideName}, shapeOf(s.objects).wide()},
	} {
		c := command{
			name: "kubectl gc " + strings.Join(tree.args, " "),
			args: append(append([]string{s.plugin}, tree.args...), "-o", "name"),
			env:  s.env(place{kubeconfig: s.kubeconfig}),
		}
		out, err := c.output(ctx)
		if err != nil {
			return fmt.Errorf("%w; a cluster for -kubeconfig is one that -keep left", err)
		}
		if got := bytes.Count(out, []byte("\n")); got != tree.want {
			return fmt.Errorf("%s shows %d objects, not the %d that were loaded", c.name, got, tree.want)
		}
	}
	return nil
}
