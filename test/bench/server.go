package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
)

// counters are what an API server says that it has done since it began.
type counters struct {
	requests float64
	cpu      float64 // seconds
}

func (c counters) less(d counters) counters { return counters{c.requests - d.requests, c.cpu - d.cpu} }

// serverCosts prints what the API server pays for each command: requests, the bytes that it sends,
// and its processor time. Each command runs once.
func (s *session) serverCosts(ctx context.Context, out io.Writer) error {
	counted, proxy, err := behind(ctx, s.kubeconfig, s.dir, "kubeconfig-counted", link{})
	if err != nil {
		return err
	}
	read, err := metricsReader(s.kubeconfig)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT THE SERVER PAYS FOR\tREQUESTS\tBYTES\tCPU")
	for _, c := range s.costly() {
		c.env = s.env(place{kubeconfig: counted})
		say("counting %s", c.name)
		first, err := read(ctx)
		if err != nil {
			return err
		}
		before, err := read(ctx)
		if err != nil {
			return err
		}
		sent := proxy.toClient.sent.Load()
		if _, err := c.output(ctx); err != nil {
			fmt.Fprintf(w, "%s\tfailed\t\t\n", c.name)
			continue
		}
		sent = proxy.toClient.sent.Load() - sent
		after, err := read(ctx)
		if err != nil {
			return err
		}
		// What reading the counters costs is no part of it.
		paid := after.less(before).less(before.less(first))
		fmt.Fprintf(w, "%s\t%.0f\t%s\t%.2fs\n", c.name, paid.requests, megabytes(max(1, sent)), max(0, paid.cpu))
	}
	return w.Flush()
}

// costly are the commands, with those of peers that are installed.
func (s *session) costly() []command {
	var all []command
	add := func(name, program string, args ...string) {
		all = append(all, command{name: strings.Join(append([]string{name}, args...), " "),
			args: append([]string{program}, args...)})
	}
	for _, args := range [][]string{s.oneArgs(), wholeArgs, {"tree", "-A"}, {"tree", "-A", "-o", "name"},
		{"run", "--dry-run"}, {"why", "-A"}, {"check", "-A"}, {"delete", "clusterrole/" + wideName, "--dry-run"}} {
		add("kubectl gc", s.plugin, args...)
	}
	add("kubectl", s.kubectl, "get", "all", "-A")
	if tree, found := lookUp([]string{"kubectl-tree"}); found {
		add("kubectl-tree", tree, "-n", s.namespace, "deployment", s.deployment)
		add("kubectl-tree", tree, "-A", "clusterrole", rootName)
	}
	return all
}

// metricsReader returns what reads the counters of a server.
func metricsReader(kubeconfig string) (func(context.Context) (counters, error), error) {
	config, err := clientConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.NegotiatedSerializer = serializer.NewCodecFactory(apiruntime.NewScheme()).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (counters, error) {
		body, err := client.Get().AbsPath("/metrics").Do(ctx).Raw()
		if err != nil {
			return counters{}, fmt.Errorf("reading the server's metrics: %w", err)
		}
		cpu, err := processorSeconds(body)
		return counters{requestsOf(body), cpu}, err
	}, nil
}

// requestsOf adds up the requests in a server's metrics.
func requestsOf(metrics []byte) (sum float64) {
	lines := bufio.NewScanner(bytes.NewReader(metrics))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if of, ok := strings.CutPrefix(lines.Text(), "apiserver_request_total{"); ok {
			n, _ := strconv.ParseFloat(of[strings.LastIndexByte(of, ' ')+1:], 64)
			sum += n
		}
	}
	return sum
}
