package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	utiljson "sigs.k8s.io/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// many runs a command in several clusters: once in each, with a client, caches and streams of its own.
type many struct {
	*env.Env
	cmd    *cobra.Command
	typed  []string
	format string
	output *env.Output
	// answered are the clusters that have, in the order of the targets.
	answered []*answered
}

// answered is what came of the command in one cluster.
type answered struct {
	env.Target
	code        int
	out, errOut bytes.Buffer
	// gap says why the cluster could not be asked; nil if it was. Absent says that the cluster does not
	// have what was named.
	gap    *v1alpha1.Gap
	absent bool
	err    error
	ref    v1alpha1.ClusterRef
}

// text are the formats that are printed as each cluster prints them.
var text = []string{"", "wide", "name", "ndjson"}

// askMany has a command that is about to run do so in several clusters instead.
func askMany(e *env.Env, cmd *cobra.Command, targets []env.Target) error {
	m := &many{Env: e, cmd: cmd, typed: e.Typed, answered: make([]*answered, len(targets)),
		output: env.NewOutput(e, "wide", "name", "prometheus").WithRows()}
	own := &cobra.Command{Use: cmd.Name()}
	m.output.Add(own)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if own.Flags().Lookup(f.Name) != nil {
			_ = own.Flags().Set(f.Name, f.Value.String()) // it was taken before
		}
	})
	m.format = m.output.Format()
	if !m.output.Takes() {
		return env.Usage(cmd, "-o %s is of one cluster; with --contexts use %s", m.format,
			"name, wide, json, jsonl, ndjson, yaml, kyaml, prometheus, custom columns or a template")
	}
	if err := m.output.Validate(cmd); err != nil {
		return err
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context(), targets) }
	return nil
}

// run asks all clusters, and prints what they answer. A cluster that cannot be asked is a gap.
func (m *many) run(ctx context.Context, targets []env.Target) error {
	done := make(chan int, len(targets))
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(m.Parallel())
	go func() {
		for i, t := range targets {
			group.Go(func() error {
				m.answered[i] = m.ask(asking, t)
				done <- i
				return nil
			})
		}
	}()
	open := map[string]bool{}
	for _, t := range targets {
		open[t.Name] = true
	}
	var mistyped error
	for range targets {
		shown := m.Doing(m.progress(open, len(targets)))
		a := m.answered[<-done]
		shown()
		delete(open, a.Name)
		if env.Mistyped(a.err) != "" && mistyped == nil {
			mistyped = a.err
			cancel()
		}
		if mistyped != nil || ctx.Err() != nil {
			continue
		}
		if err := m.printOne(a); err != nil {
			return err
		}
	}
	if mistyped != nil || ctx.Err() != nil {
		return errors.Join(mistyped, context.Cause(ctx))
	}
	return errors.Join(m.printAll(), m.answer())
}

// progress says which clusters are still asked.
func (m *many) progress(open map[string]bool, all int) string {
	var names []string
	for name := range open {
		names = append(names, render.Escape(name))
	}
	slices.Sort(names)
	return fmt.Sprintf("%d of %d clusters have answered, still asked: %s", all-len(open), all,
		phrase.FirstFew(names, phrase.MaxNamed))
}

// ask runs the command in one cluster.
func (m *many) ask(ctx context.Context, t env.Target) *answered {
	a := &answered{Target: t, gap: t.Gap}
	if t.Gap != nil {
		a.ref = v1alpha1.ClusterRef{Context: t.Name, ObservedAt: m.ClusterRef().ObservedAt}
		return a
	}
	ctx, bind := cluster.Bind(ctx)
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &a.out, ErrOut: &a.errOut}
	var connections []http.RoundTripper
	e := newEnv(streams)
	e.OneOf(m.Env, t)
	root := newRoot(e, func(config *rest.Config) {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			connections = append(connections, next)
			return next
		})
		bind(config)
		if config.ExecProvider != nil { // nobody can say for which cluster it asks
			config.ExecProvider.StdinUnavailable = true
			config.ExecProvider.StdinUnavailableMessage = "several clusters are asked: log in to each before"
		}
	})
	rename(root, e.Called)
	root.SetArgs(m.args())
	a.err = root.ExecuteContext(ctx)
	for _, c := range connections { // client-go keeps them, and their memory, for a minute and a half
		utilnet.CloseIdleConnectionsFor(c)
	}
	a.ref = e.ClusterRef()
	if a.err == nil {
		return a
	}
	if a.code = fail(ctx, e, a.err); a.code != 1 {
		return a
	}
	if a.absent = isAbsent(a.err); a.absent {
		return a
	}
	gap, is := cluster.GapOf(ctx, graph.Type{}, "", a.err)
	switch {
	case is:
	case errors.As(a.err, new(*url.Error)):
		gap.Reason = v1alpha1.GapUnavailable
	default:
		gap.Reason = v1alpha1.GapFailed
	}
	gap.Resource, gap.Group, gap.Cluster = "*", "*", t.Name
	gap.Message = a.says()
	a.gap = &gap
	return a
}

// says is what the command said on stderr, in a line.
func (a *answered) says() string {
	return strings.ReplaceAll(strings.TrimSpace(a.errOut.String()), "\n", "; ")
}

// isAbsent reports whether an error is only of objects that were named and do not exist. A 404 that
// names none can be of a server that is no API server.
func isAbsent(err error) bool {
	return !slices.ContainsFunc(answer.Flatten(err), func(one error) bool {
		var status apierrors.APIStatus
		return !apierrors.IsNotFound(one) || !errors.As(one, &status) || status.Status().Details == nil ||
			status.Status().Details.Name == ""
	})
}

// args are the arguments of the command in one cluster: those that were typed, and another format
// where the answers are put together.
func (m *many) args() []string {
	if slices.Contains(text, m.format) || m.format == "prometheus" {
		return m.typed
	}
	end := slices.Index(m.typed, "--")
	if end < 0 {
		end = len(m.typed)
	}
	return slices.Insert(slices.Clone(m.typed), end, "--output=json")
}

// printOne prints what a cluster has answered, in a format in which that does not wait for others, and
// what it warns of.
func (m *many) printOne(a *answered) error {
	if a.gap != nil {
		render.Warn(m.ErrOut, "cluster %s was not read: %s", render.Escape(a.Name), a.gap.Message)
	} else if err := render.OfCluster(m.ErrOut, a.Name, a.errOut.String(), true); err != nil {
		return err
	}
	switch {
	case m.format == "jsonl":
		return m.printLine(a)
	case m.format == "ndjson" && a.absent:
		return m.printRow(a, v1alpha1.AbsentRow(a.ref, a.says()))
	case m.format == "ndjson" && a.gap != nil:
		return m.printRow(a, v1alpha1.UnreadRow(*a.gap, a.ref))
	case m.format == "ndjson":
		_, err := a.out.WriteTo(m.Out)
		return err
	case a.gap != nil || !slices.Contains(text, m.format):
		return nil
	}
	defer a.out.Reset()
	return render.OfCluster(m.Out, a.Name, a.out.String(), m.format == "name")
}

// printRow prints the row of a cluster that has not printed rows itself.
func (m *many) printRow(a *answered, row v1alpha1.Row) error {
	var says bytes.Buffer
	if err := m.output.WriteRows(m.Out, &says, []v1alpha1.Row{row}); err != nil {
		return err
	}
	return render.OfCluster(m.ErrOut, a.Name, says.String(), true)
}

// printLine prints the document of a cluster in a line, or the gap that it is.
func (m *many) printLine(a *answered) error {
	out := json.NewEncoder(m.Out)
	switch {
	case a.gap != nil:
		return out.Encode(struct {
			metav1.TypeMeta `json:",inline"`
			*v1alpha1.Gap   `json:",inline"`
		}{v1alpha1.TypeMeta("Gap"), a.gap})
	case a.absent:
		return out.Encode(struct {
			metav1.TypeMeta `json:",inline"`
			v1alpha1.NotFound
		}{v1alpha1.TypeMeta("NotFound"), v1alpha1.NotFound{ClusterRef: a.ref, Message: a.says()}})
	}
	item, err := a.item()
	if err != nil || item == nil {
		return err
	}
	return out.Encode(item)
}

// item is the document that a cluster has answered; nil for none.
func (a *answered) item() (map[string]any, error) {
	if a.out.Len() == 0 {
		return nil, nil
	}
	var item map[string]any
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(a.out.Bytes(), &item); err != nil {
		return nil, fmt.Errorf("reading what was found in cluster %s: %w", a.Name, err)
	}
	a.out.Reset()
	ref, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&a.ref)
	item["clusterRef"] = ref
	return item, err
}

// printAll prints what waits for all clusters.
func (m *many) printAll() error {
	switch {
	case slices.Contains(text, m.format) || m.format == "jsonl":
		return nil
	case m.format == "prometheus":
		var texts []render.ClusterMetrics
		for _, a := range m.answered {
			texts = append(texts, render.ClusterMetrics{Ref: a.ref, Text: a.out.String(), Read: a.gap == nil})
		}
		return render.ManyMetrics(m.Out, texts)
	}
	list := &v1alpha1.List{TypeMeta: v1alpha1.TypeMeta("List"), Complete: true, Gaps: []v1alpha1.Gap{}, Items: []map[string]any{}}
	for _, a := range m.answered {
		if a.gap != nil {
			list.Gaps, list.Complete = append(list.Gaps, *a.gap), false
			continue
		}
		if a.absent {
			list.NotFound = append(list.NotFound, v1alpha1.NotFound{ClusterRef: a.ref, Message: a.says()})
			continue
		}
		item, err := a.item()
		if err != nil {
			return err
		}
		if item != nil {
			list.Items = append(list.Items, item)
			list.Complete = list.Complete && item["complete"] != false
		}
	}
	return m.output.Write(m.Out, list)
}

// answer is the exit code of all: that of findings if one of them has one, or could not be asked.
func (m *many) answer() error {
	var unread []string
	var errs []error
	code := 0
	for _, a := range m.answered {
		switch {
		case a.gap != nil:
			unread = append(unread, render.Escape(a.Name))
		case a.absent:
			errs = append(errs, a.err)
		default:
			code = max(code, a.code)
		}
	}
	exitZero := false
	if f := m.cmd.Flags().Lookup("exit-zero"); f != nil {
		exitZero = f.Value.String() == "true"
	}
	switch {
	case len(unread) == len(m.answered):
		return errors.New("no cluster could be read")
	case len(errs) > 0 && len(errs)+len(unread) == len(m.answered): // what was named is in none of them
		return errs[0]
	case len(unread) > 0 && !exitZero:
		return answer.Refuse(fmt.Errorf("incomplete: %d of %d clusters were not read: %s", len(unread), len(m.answered),
			phrase.FirstFew(unread, phrase.MaxNamed)))
	case code != 0:
		return answer.ErrFound
	}
	return nil
}
