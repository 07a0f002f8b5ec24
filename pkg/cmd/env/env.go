// Package env is what all commands share: streams, connection flags, the flags that say which
// objects are meant, output formats and the prompt.
package env

import (
	"bufio"
	"context"
	"flag"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Env is where a command runs: its streams, its connection flags and how it prints. It is for one
// command.
type Env struct {
	genericiooptions.IOStreams
	Config *genericclioptions.ConfigFlags
	// Color is the value of --color, and Concurrency that of --concurrency: requests in flight at
	// most.
	Color       string
	Concurrency int
	// LogFormat is the value of --log-format.
	LogFormat string
	// Scope is what a command is about instead of the namespace of -n, as "all namespaces"; empty for
	// that one.
	Scope string
	// From is the value of --from: what is read in the place of a cluster. Refresh has the cluster asked
	// for what has changed since.
	From    string
	Refresh bool
	// Protect are the patterns of --protect-context.
	Protect []string
	// Called is what was typed to run the program, as DefaultName.
	Called string
	// Typed are the arguments of the program.
	Typed []string
	// Packs are the directories of --packs.
	Packs      []string
	known, own func() (*finalizer.Registry, error)
	links      func() ([]*link.Definition, error)
	answers    *bufio.Reader // of who is asked
	// clusters are those that are asked, and only is the one of them that this is for; nil if it is for
	// one alone. Screen is where it is printed in the end; nil for Out.
	clusters clusters
	only     *Target
	Screen   io.Writer
	// identifies says that it matters which cluster it is, asked that it was found out, and uid is what
	// is known of it.
	identifies, asked bool
	uid               string
	source            *source // nil for a cluster
	refreshed         bool    // a snapshot, so that the cluster is asked
}

// DefaultName is what is typed to run the program where it is installed as gc.
const DefaultName = "kubectl gc"

// New returns the environment of one command. Nothing is read yet.
func New(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *Env {
	e := &Env{IOStreams: streams, Config: config, Concurrency: cluster.DefaultConcurrency, Called: DefaultName}
	e.readPacks()
	return e
}

// AddFlags adds the flags that all commands take.
func (e *Env) AddFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	e.Config.AddFlags(flags)
	flags.StringVar(&e.Color, "color", "auto", "When to use color: auto, always or never")
	flags.IntVar(&e.Concurrency, "concurrency", e.Concurrency, "Maximum number of concurrent requests")
	flags.StringSliceVar(&e.Protect, "protect-context", nil,
		"Patterns of contexts, such as *prod*, in which a question is answered by typing the context's name, and --yes is refused. "+
			"Defaults to those of "+protectVariable+", separated by commas; --protect-context= lifts it")
	flags.Var((*onePath)(&e.From), "from",
		"Read this in the place of a cluster: a file or folder of objects, the dump of kubectl cluster-info or oc adm inspect, "+
			"a support bundle, a backup of Velero, or an archive of kubectl gc; - reads standard input")
	flags.BoolVar(&e.Refresh, "refresh", false,
		"With --from and a snapshot: ask the cluster for what has changed since, in place of reading all of it again")
	e.clusters.addFlags(flags)
	flags.StringVar(&e.LogFormat, "log-format", "text",
		"Format of what goes to stderr: text, or json for one object on each line")
	klogFlags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(klogFlags)
	flags.AddGoFlag(klogFlags.Lookup("v"))
	flags.Lookup("v").Usage = "Number for the log level verbosity"
	e.CompleteFlag(root, "color",
		cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	e.CompleteFlag(root, "log-format", cobra.FixedCompletions(logFormats, cobra.ShellCompDirectiveNoFileComp))
	e.CompleteFlag(root, "namespace", e.completeNamespaces)
	e.CompleteFlag(root, "context", e.completeContexts)
	e.CompleteFlag(root, "contexts", e.completeContexts)
	e.CompleteFlag(root, "clusterprofiles", e.completeNamespaces)
}

// Validate checks the flags that all commands take, and has stderr written as --log-format says
// from here on.
func (e *Env) Validate(cmd *cobra.Command) error {
	if e.only != nil {
		e.connectTo(*e.only)
	} else { // the log is one for all
		if err := e.setLogFormat(); err != nil {
			return UsageError(cmd, err)
		}
	}
	if f := cmd.Flags().Lookup("output"); f != nil {
		e.identifies = isDocument(f.Value.String())
	}
	if _, err := render.ParseColor(e.Color); err != nil {
		return UsageError(cmd, err)
	}
	if err := e.checkProtected(cmd); err != nil {
		return err
	}
	if e.Concurrency < 1 {
		return Usage(cmd, "--concurrency must be at least 1, not %d", e.Concurrency)
	}
	return e.readFrom(cmd)
}

// Style decides how tables are written to stdout.
func (e *Env) Style(output *Output) render.Style {
	when, _ := render.ParseColor(e.Color) // validated before any command runs
	out := e.Out
	if e.Screen != nil {
		out = e.Screen
	}
	style := render.NewStyle(when, out, output.Wide())
	if e.only != nil {
		style.Cluster = e.only.Name
	}
	style.NoHeaders, style.Called = output.noHeaders, e.Called
	return style
}

// Client returns a client for the cluster that the flags name. It sends nothing.
func (e *Env) Client() (*cluster.Client, error) {
	if e.From != "" && e.source == nil && !e.refreshed {
		return nil, errNotOpen
	}
	config, err := e.Config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return cluster.New(config, e.Concurrency)
}

// Connect returns a client, and what discovery shows of its server.
func (e *Env) Connect(ctx context.Context) (*cluster.Client, *cluster.Catalog, error) {
	client, err := e.Client()
	if err != nil {
		return nil, nil, err
	}
	done := e.discovering()
	catalog, err := client.Discover(ctx)
	done()
	if err == nil {
		err = e.Identify(ctx, client)
	}
	return client, catalog, err
}

// Identify finds out which cluster it is, if that matters: the uid of the namespace kube-system.
func (e *Env) Identify(ctx context.Context, client *cluster.Client) (err error) {
	if e.identifies || e.only != nil {
		e.asked = true
		e.uid, err = client.Identity(ctx)
	}
	return err
}

// isDocument reports whether a format is that of what programs read, which says of which cluster it
// is.
func isDocument(format string) bool {
	format, _, _ = strings.Cut(format, "=")
	return slices.Contains([]string{"json", "yaml", jsonLine, rowLines, "jsonpath", "jsonpath-as-json", "jsonpath-file",
		"go-template", "go-template-file", "template", "templatefile", "prometheus"}, format)
}

// ClusterRef says which cluster was asked, and that it has answered now.
func (e *Env) ClusterRef() v1alpha1.ClusterRef {
	context, server := e.Cluster()
	if e.only != nil {
		context = e.only.Name
	}
	at := metav1.NewTime(e.Now()).Rfc3339Copy()
	return v1alpha1.ClusterRef{UID: e.uid, Context: context, Server: server, ObservedAt: at}
}

// discovering shows on a terminal that the server is asked what it serves, unless a credential
// plugin runs meanwhile, which may ask something there.
func (e *Env) discovering() (done func()) {
	if config, err := e.Config.ToRESTConfig(); err != nil || config.ExecProvider != nil || config.AuthProvider != nil {
		return func() {}
	}
	return e.Doing("asking the server which types it has")
}

// Doing shows on a terminal what is done, until done is called.
func (e *Env) Doing(what string) (done func()) { return render.NewProgress(e.ErrOut).Doing(what) }

// Namespace returns the namespace of -n, or else of the kubeconfig's context.
func (e *Env) Namespace() (string, error) {
	ns, _, err := e.Config.ToRawKubeConfigLoader().Namespace()
	return ns, err
}

// Listing shows on a terminal how far a listing has come. Done ends it.
func (e *Env) Listing() (report func(cluster.Progress), done func()) {
	progress := render.NewProgress(e.ErrOut)
	if progress == nil {
		return nil, func() {}
	}
	return func(p cluster.Progress) { progress.Listed(p.TypesDone, p.Types, p.Objects) }, progress.Done
}

// Print prints, for as long as somebody reads it. A write to a full pipe knows no context.
func (e *Env) Print(ctx context.Context, print func() error) error {
	_, err := interrupt.Do(ctx, func() (any, error) { return nil, print() })
	return err
}

// Query finds out on the server which objects the flags and arguments mean.
func (e *Env) Query(ctx context.Context, objects *Objects, args []string) (*selection.Query, error) {
	objects.scope(e)
	namespace, err := e.Namespace()
	if err != nil {
		return nil, err
	}
	client, catalog, err := e.Connect(ctx)
	if err != nil {
		return nil, err
	}
	q, err := selection.NewQuery(ctx, e.Config, client, catalog, objects.request(namespace, args))
	if err != nil {
		return nil, err
	}
	q.Progress = e.Listing
	e.About(q.Namespaces())
	return q, nil
}

// NoTimeout is what kubectl takes for no time-out: a week.
const NoTimeout = 168 * time.Hour
