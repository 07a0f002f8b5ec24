package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// roleCollect measures how long it takes until the dependents of a deleted owner are gone, with run --watch
// as the collector and with the cluster's own.
const roleCollect = "collect"

const (
	collectDependents = 1000
	collectRatio      = 1.2
	// collectorRate is what the cluster's collector may send in a second; by default it is 20, and
	// nothing else would be measured.
	collectorRate = 2000
	// collectPatience is how long a collector may take for what is measured, and to begin.
	collectPatience = 10 * time.Minute
)

func benchCollect(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return inSession(ctx, o, openPlane, func(ctx context.Context, s *session, _ *plane) error {
		ours, theirs := &row{label: "kubectl gc run --watch"},
			&row{label: fmt.Sprintf("the cluster's collector, --kube-api-qps=%d", collectorRate)}
		theirs.name, ours.aims = "the cluster's collector", []aim{ratioTo(theirs, collectRatio)}
		for i := range s.repetitions {
			for _, c := range []struct {
				row   *row
				start func(context.Context) (func() error, error)
			}{{theirs, s.startCollector}, {ours, s.startWatch}} {
				say("%d/%d %s", i+1, s.repetitions, c.row.label)
				took, err := s.collect(ctx, c.start)
				if err != nil {
					return fmt.Errorf("%s: %w", c.row.label, err)
				}
				c.row.runs = append(c.row.runs, usage{Wall: took})
			}
		}
		return printWalls(os.Stdout, fmt.Sprintf("UNTIL %d DEPENDENTS OF %d OBJECTS ARE GONE", collectDependents, s.objects),
			ours, theirs)
	})
}

func printWalls(out io.Writer, title string, rows ...*row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tBEST\tMEDIAN\tAGAINST\n", title)
	for _, r := range rows {
		against := ""
		for _, aim := range r.aims {
			against = aim(r)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.label, seconds(r.runs.best().Wall), seconds(r.runs.median()), against)
	}
	return w.Flush()
}

// startWatch starts kubectl gc as the collector, and returns what ends it.
func (s *session) startWatch(ctx context.Context) (func() error, error) {
	cmd := exec.CommandContext(ctx, s.plugin, "run", "--yes", "--watch")
	cmd.Env = append(os.Environ(), s.env(place{kubeconfig: s.kubeconfig})...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() error { return errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()) }, nil
}

// startCollector starts the cluster's collector, and returns what ends it.
func (s *session) startCollector(ctx context.Context) (func() error, error) {
	controllers := func(args ...string) error {
		return controlplane(ctx, s.options, append([]string{"controllers", "--dir", filepath.Dir(s.kubeconfig)}, args...)...)
	}
	err := controllers("garbage-collector-controller", fmt.Sprintf("--controllers-arg=--kube-api-qps=%d", collectorRate),
		fmt.Sprintf("--controllers-arg=--kube-api-burst=%d", collectorRate))
	return func() error { return controllers("none") }, err
}

// collect starts a collector, creates an owner and its dependents, deletes the owner when the
// collector knows them, and returns how long it took until the dependents were gone.
func (s *session) collect(ctx context.Context, start func(context.Context) (func() error, error)) (took time.Duration,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, collectPatience)
	defer cancel()
	config, err := clientConfig(s.kubeconfig)
	if err != nil {
		return 0, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	stop, err := start(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := s.canaries(ctx, client); err != nil {
		return 0, err
	}
	owner, err := client.CoreV1().ConfigMaps(s.namespace).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "collected-owner-"}}, metav1.CreateOptions{})
	if err != nil {
		return 0, err
	}
	g := &gone{client: client, namespace: s.namespace, left: map[types.UID]bool{}}
	err = side(ctx, s.writers, collectDependents, func(ctx context.Context, _ int) error {
		return g.create(ctx, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID})
	})
	if err != nil {
		return 0, err
	}
	if err := s.canaries(ctx, client); err != nil {
		return 0, err
	}
	if err := g.watch(ctx); err != nil {
		return 0, err
	}
	defer g.events.Stop()
	began, background := time.Now(), metav1.DeletePropagationBackground
	if err := client.CoreV1().ConfigMaps(s.namespace).Delete(ctx, owner.Name,
		metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		return 0, err
	}
	err = g.wait(ctx)
	return time.Since(began), err
}

// canaries waits until the collector has collected two objects with an absent owner, one after the
// other: it has then seen what came before the second.
func (s *session) canaries(ctx context.Context, client kubernetes.Interface) error {
	for range 2 {
		g := &gone{client: client, namespace: s.namespace, left: map[types.UID]bool{}}
		if err := g.watch(ctx); err != nil {
			return err
		}
		defer g.events.Stop()
		if err := g.create(ctx, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody",
			UID: "of-nobody"}); err != nil {
			return err
		}
		if err := g.wait(ctx); err != nil {
			return fmt.Errorf("waiting for the collector: %w", err)
		}
	}
	return nil
}

// gone waits until config maps are gone.
type gone struct {
	client    kubernetes.Interface
	namespace string
	events    watch.Interface

	mu   sync.Mutex
	left map[types.UID]bool
}

// create creates a config map that wait waits for.
func (g *gone) create(ctx context.Context, owner metav1.OwnerReference) error {
	o, err := g.client.CoreV1().ConfigMaps(g.namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "collected-", OwnerReferences: []metav1.OwnerReference{owner}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left[o.UID] = true
	return nil
}

// watch begins to watch from now on.
func (g *gone) watch(ctx context.Context) error {
	list, err := g.client.CoreV1().ConfigMaps(g.namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err == nil {
		g.events, err = g.client.CoreV1().ConfigMaps(g.namespace).Watch(ctx,
			metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	}
	return err
}

// wait waits until all are gone.
func (g *gone) wait(ctx context.Context) error {
	for len(g.left) > 0 {
		select {
		case e, open := <-g.events.ResultChan():
			if !open {
				return errors.New("the watch of what is to be gone has ended")
			}
			if o, ok := e.Object.(*corev1.ConfigMap); ok && e.Type == watch.Deleted {
				delete(g.left, o.UID)
			}
		case <-ctx.Done():
			return fmt.Errorf("%d objects are left: %w", len(g.left), context.Cause(ctx))
		}
	}
	return nil
}
