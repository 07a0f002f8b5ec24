package cmd

import (
	"bufio"
	"flag"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// common is what all commands share: the connection flags and how to print.
type common struct {
	genericiooptions.IOStreams
	config      *genericclioptions.ConfigFlags
	color       string
	concurrency int
	answers     *bufio.Reader // of who is asked
	packs       []string      // folders of --packs
	// known returns what is known of finalizers.
	known func() (*finalizer.Registry, error)
}

// NewRoot returns the kubectl gc command with all its subcommands.
func NewRoot(streams genericiooptions.IOStreams) *cobra.Command {
	return newRoot(streams, func(*rest.Config) {})
}

// newRoot is NewRoot for clients whose configurations are changed by bind.
func newRoot(streams genericiooptions.IOStreams, bind func(*rest.Config)) *cobra.Command {
	c := &common{IOStreams: streams, config: genericclioptions.NewConfigFlags(true), concurrency: cluster.DefaultConcurrency}
	c.known = sync.OnceValues(c.loadKnown)
	c.config.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.UserAgent = userAgent()
		config.WarningHandler = rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
		bind(config)
		return config
	}
	root := &cobra.Command{
		Use:   "kubectl-gc",
		Short: "See, preview, perform and unstick cascading deletion",
		Long: `See what owns what, what a deletion takes with it, and what it hangs on.

kubectl gc reads the ownerReferences of everything that can be deleted and shows them as a graph. What it
could not list it calls a gap and prints; it never takes unknown for absent.`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl gc"},
		SilenceErrors: true,
		SilenceUsage:  true,
		// Without it cobra suggests only what begins as typed.
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.validate(cmd) },
	}
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetIn(streams.In)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{err, cmd.CommandPath()} })
	c.addFlags(root)
	root.AddCommand(newTree(c), newDelete(c), newRun(c), newWhy(c), newUnfinalize(c), newExplain(c), newCompletion(c), newVersion(c), newOptions(c))
	for _, cmd := range root.Commands() {
		hideGlobalFlags(cmd)
	}
	return root
}

func (c *common) addFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	c.config.AddFlags(flags)
	flags.StringVar(&c.color, "color", "auto", "When to use color: auto, always or never")
	flags.IntVar(&c.concurrency, "concurrency", c.concurrency, "Number of requests in flight at most")
	klogFlags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(klogFlags)
	flags.AddGoFlag(klogFlags.Lookup("v"))
	flags.Lookup("v").Usage = "Number for the log level verbosity"
	root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	root.RegisterFlagCompletionFunc("namespace", c.completeNamespaces)
	root.RegisterFlagCompletionFunc("context", c.completeContexts)
}

func (c *common) validate(cmd *cobra.Command) error {
	if _, err := render.ParseColor(c.color); err != nil {
		return usageError{err, cmd.CommandPath()}
	}
	if c.concurrency < 1 {
		return usageError{fmt.Errorf("--concurrency must be at least 1, not %d", c.concurrency), cmd.CommandPath()}
	}
	return nil
}

// style decides how tables are written to stdout.
func (c *common) style(wide bool) render.Style {
	when, _ := render.ParseColor(c.color) // validated before any command runs
	return render.NewStyle(when, c.Out, wide)
}

// client returns a client for the cluster that the flags name. It sends nothing.
func (c *common) client() (*cluster.Client, error) {
	config, err := c.config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return cluster.New(config, c.concurrency)
}

// namespace returns the namespace of -n, or else of the kubeconfig's context.
func (c *common) namespace() (string, error) {
	ns, _, err := c.config.ToRawKubeConfigLoader().Namespace()
	return ns, err
}

// usage makes a flag error of a message.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...), cmd.CommandPath()}
}

// unknownCommand gives an unknown subcommand kubectl's words and cobra's suggestions.
func unknownCommand(root *cobra.Command, name string) error {
	err := error(usageError{fmt.Errorf("unknown command %q for %q", name, root.CommandPath()), root.CommandPath()})
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return withHint(err, "did you mean "+strings.Join(near, " or ")+"?")
	}
	return err
}
