// Package snapshot is the command kubectl gc snapshot.
package snapshot

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot/take"
)

// Options are the flags and arguments of kubectl gc snapshot.
type Options struct {
	*env.Env
	Output *env.Output
	// File is where the snapshot goes, - for standard output.
	File string
	// Whole are the types whose objects are saved whole, as they were typed.
	Whole []string
}

// New returns the command snapshot, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e, Output: env.NewOutput(e)}
	cmd := &cobra.Command{
		Use:        "snapshot (FILE | -)",
		Short:      "Save the metadata of a cluster, to look at it offline",
		SuggestFor: []string{"dump", "record"},
		Long: `Save the metadata of all objects of a cluster in a file, which the commands that read take with
--from in the place of the cluster.

The file has the metadata of all objects that the garbage collector watches: their owners,
finalizers, labels and annotations. It also says which types could not be listed.

Some objects are saved whole: those that are being deleted; workloads, Services, volumes, Leases,
nodes, namespaces, roles, webhooks, policies and CustomResourceDefinitions; all objects of a type
that has at most 500 of them, pods included; and events, if there are at most 5,000. --whole adds
types. Pods and workloads can have secrets in environment variables.

The data of Secrets and ConfigMaps is not saved, unless --whole names them. Annotations in which
kubectl apply and others keep a copy of the object are not saved either. Only the owner of the file
can read it (mode 0600). A file that exists is never overwritten.

With -n, only objects in that namespace and cluster-scoped objects are saved.`,
		Example: `  # Save the cluster, and look at it without the cluster
  kubectl gc snapshot shop.snapshot
  kubectl gc why -A --from shop.snapshot

  # Also save all pods whole, however many there are
  kubectl gc snapshot shop.snapshot --whole pods

  # Save it on another machine
  kubectl gc snapshot - | ssh desk 'cat > shop.snapshot'`,
		RunE: env.RunE(o, o.validate, runF, run),
	}
	o.Output.Add(cmd)
	cmd.Flags().StringSliceVar(&o.Whole, "whole", nil, "Also save the objects of these types whole, with the data of Secrets and ConfigMaps if these are named")
	e.CompleteFlag(cmd, "whole", e.CompleteTypeList)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return env.Usage(cmd, "snapshot requires one file to write, or - for standard output")
	case args[0] == "":
		return env.Usage(cmd, "the name of the file is empty")
	case args[0] == "-" && o.Output.Format() != "":
		return env.Usage(cmd, "-o prints to standard output, where the snapshot goes: name a file")
	}
	if o.File = args[0]; o.File != "-" {
		if err := archive.Check(o.File); err != nil {
			return env.UsageError(cmd, err)
		}
	}
	return o.Output.Validate(cmd)
}

func run(ctx context.Context, o *Options) error {
	r, err := o.request(ctx)
	if err != nil {
		return err
	}
	report, done := o.Listing()
	r.Progress = report
	s, err := o.write(ctx, r)
	done()
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, s.Gaps)
	render.WarnUnread(o.ErrOut, s.Unread)
	if o.File == "-" {
		_, err := fmt.Fprintln(o.ErrOut, render.Saved(s, "standard output"))
		return err
	}
	return o.Print(ctx, func() error {
		if o.Output.Format() != "" {
			return o.Output.Write(o.Out, s)
		}
		_, err := fmt.Fprintln(o.Out, render.Saved(s, o.File))
		return err
	})
}

// request asks the server which types it has, and finds those of --whole.
func (o *Options) request(ctx context.Context) (take.Request, error) {
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return take.Request{}, err
	}
	_, server := o.Cluster()
	namespace, given, err := o.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return take.Request{}, err
	}
	r := take.Request{Client: client, Catalog: catalog, Server: server, Fallback: namespace}
	if given {
		r.Namespace = namespace
	}
	for _, word := range o.Whole {
		t, err := selection.FindType(client, catalog, word)
		if err == nil && !slices.Contains(t.Verbs, "list") {
			err = fmt.Errorf("--whole: %s cannot be listed", t.Resource)
		}
		if err != nil {
			return r, err
		}
		r.Whole = append(r.Whole, t.GroupResource())
	}
	return r, nil
}

// write writes the snapshot, and says what it is.
func (o *Options) write(ctx context.Context, r take.Request) (s *v1alpha1.Snapshot, err error) {
	counted := &counter{}
	write := func(to io.Writer) error {
		buffer := bufio.NewWriterSize(to, 1<<20)
		counted.to = buffer
		if s, err = take.Write(ctx, r, counted); err != nil {
			return err
		}
		return buffer.Flush()
	}
	if o.File == "-" {
		err = o.Print(ctx, func() error { return write(o.Out) })
	} else {
		err = archive.Write(o.File, write)
	}
	if err != nil {
		return nil, err
	}
	s.File, s.Bytes = o.File, counted.bytes
	return s, nil
}

// counter counts the bytes that go through it.
type counter struct {
	to    io.Writer
	bytes int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.bytes += int64(n)
	return n, err
}
