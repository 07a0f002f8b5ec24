// Package command is the command line over package plane.
package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/plane"
)

const long = `A real Kubernetes control plane on loopback, for tests and demonstrations.

It has no nodes: pods are made and stay Pending, and a deleted pod is gone at once. Only the controllers
that were asked for run. The kubeconfig's user may do everything; to be someone with fewer rights,
bind roles to a name and impersonate it (kubectl --as NAME).

The programs in it can be run by themselves: controlplane kubectl, etcd and kube-apiserver take their own flags.
kube-controller-manager has a few of upstream's controllers and flags: see its --help.
Called as kubectl, through a link, it is kubectl.`

// New gives the command controlplane.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:           "controlplane",
		Short:         "A real Kubernetes control plane on loopback",
		Long:          long,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newUp(), newRun(), newSupervise(), newControllers(), newAPIServer(), newDown())
	return root
}

func newUp() *cobra.Command {
	var o plane.Options
	cmd := &cobra.Command{
		Use:   "up --dir DIR",
		Short: "Start a control plane that stays, and return when it is ready",
		Long: `Start a control plane that stays, and return when it is ready.

DIR/kubeconfig says how to reach it, DIR/*.log what it did. What ran in DIR before is stopped and removed.
The one line that it prints is for the shell.`,
		Example: `  eval "$(controlplane up --dir DIR)"
  controlplane kubectl get namespaces
  controlplane down --dir DIR`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kubeconfig, err := plane.Up(cmd.Context(), o, append([]string{"supervise"}, startArgs(o)...))
			if err == nil {
				announce(cmd.OutOrStdout(), kubeconfig)
			}
			return err
		},
	}
	addStartFlags(cmd, &o)
	return cmd
}

func newRun() *cobra.Command {
	var (
		o         plane.Options
		withStdin bool
	)
	cmd := &cobra.Command{
		Use:   "run --dir DIR",
		Short: "Run a control plane in the foreground until SIGINT or SIGTERM",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if withStdin {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				go func() {
					defer cancel()
					_, _ = io.Copy(io.Discard, cmd.InOrStdin())
				}()
			}
			return plane.Run(ctx, o, func(kubeconfig string) { announce(cmd.OutOrStdout(), kubeconfig) })
		},
	}
	addStartFlags(cmd, &o)
	cmd.Flags().BoolVar(&withStdin, "until-stdin-closes", false,
		"end when stdin is closed too, so that a control plane does not outlive who started it")
	return cmd
}

func newSupervise() *cobra.Command {
	var o plane.Options
	cmd := &cobra.Command{
		Use:    "supervise --dir DIR",
		Short:  "What up leaves running",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return plane.Supervise(cmd.Context(), o) },
	}
	addStartFlags(cmd, &o)
	return cmd
}

func newControllers() *cobra.Command {
	var o plane.Options
	cmd := &cobra.Command{
		Use:   "controllers --dir DIR LIST",
		Short: "Start more controllers in a control plane that runs, or stop them all",
		Long: `Start more controllers in a control plane that runs: another kube-controller-manager with its own list.
With "none" for LIST all that run there are stopped.`,
		Example: `  # A collector that comes late
  controlplane up --dir DIR --controllers deployment-controller,replicaset-controller
  controlplane controllers --dir DIR garbage-collector-controller

  # and goes again, with the others
  controlplane controllers --dir DIR none`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Controllers = args[0]
			return plane.Controllers(cmd.Context(), o)
		},
	}
	addDirFlag(cmd, &o.Dir)
	addControllersArgFlag(cmd, &o)
	return cmd
}

func newAPIServer() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "apiserver --dir DIR stop|start",
		Short: "Stop the API server of a control plane that runs, or start it again",
		Long: `Stop the API server of a control plane that runs, hard, or start it again on the same port. The data is kept, and controllers go on.
With "start" it returns when the server is ready.`,
		Example: `  controlplane apiserver --dir DIR stop
  controlplane apiserver --dir DIR start`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"stop", "start"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "stop" {
				return plane.StopAPIServer(cmd.Context(), dir)
			}
			return plane.StartAPIServer(cmd.Context(), dir)
		},
	}
	addDirFlag(cmd, &dir)
	return cmd
}

func newDown() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "down --dir DIR",
		Short: "Stop a control plane and remove its data",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return plane.Down(cmd.Context(), dir) },
	}
	addDirFlag(cmd, &dir)
	return cmd
}
