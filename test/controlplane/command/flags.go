package command

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/plane"
)

func addStartFlags(cmd *cobra.Command, o *plane.Options) {
	addDirFlag(cmd, &o.Dir)
	addControllersArgFlag(cmd, o)
	cmd.Flags().StringVar(&o.Controllers, "controllers", plane.DefaultControllers,
		"the controllers to run, as kube-controller-manager names them, or none")
	cmd.Flags().StringArrayVar(&o.APIServerArgs, "apiserver-arg", nil,
		"a flag for kube-apiserver, such as --apiserver-arg=--v=4; may be repeated")
}

func addDirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", "", "the control plane's directory, which must be its own")
}

func addControllersArgFlag(cmd *cobra.Command, o *plane.Options) {
	cmd.Flags().StringArrayVar(&o.ControllersArgs, "controllers-arg", nil,
		"a flag for kube-controller-manager, such as --controllers-arg=--kube-api-qps=20; may be repeated")
}

// startArgs gives the flags back that addStartFlags read.
func startArgs(o plane.Options) []string {
	args := []string{"--dir=" + o.Dir, "--controllers=" + o.Controllers}
	for _, arg := range o.APIServerArgs {
		args = append(args, "--apiserver-arg="+arg)
	}
	for _, arg := range o.ControllersArgs {
		args = append(args, "--controllers-arg="+arg)
	}
	return args
}
