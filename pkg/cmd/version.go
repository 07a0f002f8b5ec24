package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"

	"github.com/spf13/cobra"
)

// They are set by the linker in a release.
var version, commit, date = "", "", ""

// buildVersion returns the release's version, or that of the module when it was installed with go
// install.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "v0.0.0-dev"
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

func userAgent() string { return fmt.Sprintf("kubectl-gc/%s (%s)", buildVersion(), platform()) }

// versionLine is what kubectl gc --version prints, and the first line of kubectl gc version.
func versionLine() string {
	return fmt.Sprintf("kubectl gc %s (%s, %s)\n", buildVersion(), runtime.Version(), platform())
}

// addVersionFlag adds --version, which cobra prints by a template.
func addVersionFlag(root *cobra.Command) {
	root.Version = buildVersion()
	root.SetVersionTemplate(versionLine())
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "Print the version"
}

func newVersion(e *env.Env) *cobra.Command {
	output := env.NewOutput(e)
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the path of the plugin that runs",
		Long: `Print the version and the path of the plugin that runs.

kubectl prefers a plugin with a longer name: a kubectl-gc-tree on the PATH would take the place
of kubectl gc tree.`,
		Example: `  # Which build is it?
  kubectl gc version -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.Validate(cmd); err != nil {
				return err
			}
			running, err := runningVersion()
			if err != nil {
				return err
			}
			if !output.IsOwn() {
				return output.Write(e.Out, running)
			}
			_, err = fmt.Fprintf(e.Out, "%s%s\n", versionLine(), running.Path)
			return err
		},
	}
	output.Add(cmd)
	return cmd
}

// runningVersion describes the build and the executable of this process.
func runningVersion() (*v1alpha1.Version, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the path of the plugin: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return &v1alpha1.Version{
		TypeMeta: v1alpha1.TypeMeta("Version"), Version: buildVersion(), Commit: commit, Date: date,
		GoVersion: runtime.Version(), Platform: platform(), Path: path,
	}, nil
}
