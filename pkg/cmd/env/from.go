package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump/serve"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// source is what is read in the place of a cluster.
type source struct {
	name string
	// asOf is the time of it, and known is false if that is of its files, which a copy can change.
	asOf  time.Time
	known bool
}

// dumpHost stands for the address of a server, which nothing is sent to.
const dumpHost = "http://dump.invalid"

// connecting are the flags that say which cluster is meant, and who asks it.
var connecting = []string{"kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-uid", "as-group",
	"client-certificate", "client-key", "certificate-authority", "insecure-skip-tls-verify", "tls-server-name"}

// needCluster are the commands, and the flags of others, that have nothing to do without a cluster,
// or that write.
var (
	needCluster      = []string{"wait", "restore", "rescue", "adopt", "disown", "archive", "snapshot"}
	needClusterFlags = []string{"watch", "probe", "raw", "interactive", "check"}
)

// onePath is a path that is given once: of two dumps only the last would be read.
type onePath string

// Set implements pflag.Value.
func (p *onePath) Set(path string) error {
	if *p != "" {
		return fmt.Errorf("one source is read at a time, and %s is given besides", *p)
	}
	*p = onePath(path)
	return nil
}

// String implements pflag.Value.
func (p *onePath) String() string { return string(*p) }

// Type implements pflag.Value.
func (*onePath) Type() string { return "string" }

// readFrom has the commands read what --from names in the place of a cluster. Whatever writes, or
// waits, is refused here.
func (e *Env) readFrom(cmd *cobra.Command) error {
	flags := cmd.Flags()
	if e.From == "" && flags.Changed("from") { // as of a variable that is not set: the cluster is not meant
		return Usage(cmd, "--from needs a file, a folder, or - for standard input")
	}
	if e.From == "" {
		if e.Refresh {
			return Usage(cmd, "--refresh needs a snapshot: --from FILE")
		}
		return nil
	}
	for _, name := range connecting {
		if flags.Changed(name) && !e.Refresh {
			return Usage(cmd, "--from and --%s cannot be used together", name)
		}
	}
	for _, name := range []string{"filename", "unless-in"} {
		if files, err := flags.GetStringSlice(name); e.From == "-" && err == nil && slices.Contains(files, "-") {
			return Usage(cmd, "standard input cannot be read twice: --from and --%s are both -", name)
		}
	}
	dry, fix := flags.Lookup("dry-run"), flags.Lookup("fix")
	if dry != nil && !slices.Contains(slices.Concat(dryRuns, dryOnClient, []string{"false"}), dry.Value.String()) {
		return Usage(cmd, "invalid dry-run value (%v). Must be \"none\", \"server\", or \"client\".", dry.Value)
	}
	answered := slices.ContainsFunc([]string{"dry-run", "yes", "confirm", "interactive"}, flags.Changed)
	if flags.Changed("unless-in") && !answered { // a gate is there to be read
		if err := dry.Value.Set("client"); err != nil {
			return err
		}
	}
	writes := dry != nil && !slices.Contains(dryOnClient, dry.Value.String()) && (fix == nil || fix.Changed)
	needed := slices.Contains(needCluster, cmd.Name()) || slices.ContainsFunc(needClusterFlags, flags.Changed)
	if writes || needed {
		return e.refuseFrom(!needed)
	}
	return e.open(cmd.Context(), "from")
}

// dryOnClient are the values of --dry-run with which no request to write is sent.
var dryOnClient = []string{"client", "true", "unchanged"}

// refuseFrom is the refusal of what needs a cluster.
func (e *Env) refuseFrom(dry bool) error {
	err := fmt.Errorf("nothing was done: %s is not a cluster, and can only be read", e.named())
	if !dry {
		return answer.Refuse(err)
	}
	return answer.Refuse(answer.WithHint(err, "with --dry-run=client it shows what it would do"))
}

// Other returns the environment of the same command for a dump, which a flag names, besides what it
// reads.
func (e *Env) Other(ctx context.Context, flag, path, namespace string) (*Env, error) {
	config := genericclioptions.NewConfigFlags(true)
	*config.Namespace = namespace
	other := *e
	other.Config, other.From, other.source, other.Scope = config, path, nil, ""
	other.Refresh, other.refreshed = false, false
	return &other, other.open(ctx, flag)
}

// named is what --from names.
func (e *Env) named() string {
	if e.From == "-" {
		return "standard input"
	}
	return e.From
}

// open reads what a flag names, --from or another, says what it is, and connects the clients to it.
func (e *Env) open(ctx context.Context, flag string) error {
	done := e.Doing("reading " + render.Escape(e.named()))
	// A read of a pipe to which nobody writes does not end with the context.
	d, err := interrupt.Do(ctx, func() (*dump.Dump, error) {
		if e.From == "-" {
			return dump.Read(ctx, e.In, dump.DefaultLimits)
		}
		return dump.Open(ctx, e.From, dump.DefaultLimits)
	})
	done()
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	if e.Refresh {
		return e.refresh(ctx, d)
	}
	e.source = &source{e.named(), d.Time, d.TimeOf != dump.OfFiles}
	e.introduce(d)
	server := serve.New(d, e.source.name)
	*e.Config.APIServer, *e.Config.KubeConfig = dumpHost, os.DevNull
	wrap := e.Config.WrapConfigFn
	e.Config.WrapConfigFn = func(*rest.Config) *rest.Config {
		config := &rest.Config{Host: dumpHost, Transport: server}
		if wrap != nil {
			return wrap(config)
		}
		return config
	}
	return nil
}

// introduce says what is read, and what of it could not be.
func (e *Env) introduce(d *dump.Dump) {
	line := fmt.Sprintf("Reading %s (%s, %s", e.named(), d.Kind, phrase.Count(d.Objects, "object"))
	if d.Cluster != "" {
		line += ", cluster " + d.Cluster
	}
	line += fmt.Sprintf(") as of %s%s", map[dump.TimeOf]string{dump.OfFiles: "the time of its files, ",
		dump.OfLeases: "its newest object, "}[d.TimeOf], e.source.asOf.UTC().Format(time.RFC3339))
	render.Message(e.ErrOut, "", render.Escape(line))
	if n := d.WithoutUID; n > 0 {
		render.Warn(e.ErrOut, "%s left out, which no server has answered: without a uid it is a manifest",
			phrase.Count(n, "object"))
	}
	if n := len(d.Unread); n > 0 {
		render.Warn(e.ErrOut, "%s", render.Escape(d.Unread[0].Error()+phrase.More(", and %d more", n-1)))
	}
}

// errNotOpen is of a completion, which reads no dump.
var errNotOpen = errors.New("what --from names is not read")

// Now returns the time that ages are counted to: that of a dump, if one is read.
func (e *Env) Now() time.Time {
	if e.source != nil {
		return e.source.asOf
	}
	return time.Now()
}

// TimeIsKnown returns whether the time of what is read can be relied on: a dump can have none but
// that of its files.
func (e *Env) TimeIsKnown() bool { return e.source == nil || e.source.known }

// InDump words an error about a type that does not exist as one about a dump, if one is read: the
// cluster may have the type.
func (e *Env) InDump(text string) string {
	if e.source == nil {
		return text
	}
	what, ok := strings.CutPrefix(text, "error: the server doesn't have a ")
	if !ok {
		return text
	}
	return fmt.Sprintf("error: %s doesn't have a %s; whether the cluster has it is not known", e.source.name, what)
}

// refresh has the clients ask the cluster that a snapshot is of, and take from the snapshot what
// has not changed since.
func (e *Env) refresh(ctx context.Context, d *dump.Dump) error {
	if !d.IsSnapshot() || d.Cluster == "" {
		return answer.WithHint(fmt.Errorf("--refresh: %s is no snapshot that says of which cluster it is: it was read as %s",
			e.named(), d.Kind), "kubectl gc snapshot FILE takes one")
	}
	e.refreshed = true
	client, err := e.Client()
	if err != nil {
		return err
	}
	system, err := client.GetMeta(ctx, cluster.NamespaceType, "", "kube-system")
	_, server := e.Cluster()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return answer.WithHint(fmt.Errorf("--refresh: it is unknown whether %s is the cluster of %s: %w", server, e.named(), err),
			"without --refresh the snapshot is read alone")
	case system.UID != d.Cluster:
		return answer.WithHint(fmt.Errorf("--refresh: %s is of cluster %s, and %s is cluster %s", e.named(), d.Cluster, server, system.UID),
			"--context names another cluster; without --refresh the snapshot is read alone")
	}
	done := e.Doing("asking the cluster what has changed")
	lists, err := serve.Refresh(ctx, client, d)
	done()
	if err != nil {
		return err
	}
	wrap := e.Config.WrapConfigFn
	e.Config.WrapConfigFn = func(config *rest.Config) *rest.Config {
		if wrap != nil {
			config = wrap(config)
		}
		config.Wrap(lists.Wrap)
		return config
	}
	age := max(0, client.Now().Sub(d.Time)).Round(time.Second)
	line := fmt.Sprintf("Reading everything from the cluster: no list of %s (%s old) was continued", e.named(), age)
	if n := lists.Lists(); n > 0 {
		line = fmt.Sprintf("Reading %s from %s (%s old, %s since), and everything else from the cluster",
			phrase.Count(n, "long list"), e.named(), age, phrase.Count(lists.Changes, "change"))
	}
	if len(lists.Expired) > 0 {
		line += "; listing again, because the server no longer has the changes: " +
			phrase.SortedFew(phrase.Words(lists.Expired, schema.GroupResource.String))
	}
	render.Message(e.ErrOut, "", render.Escape(line))
	return nil
}
