package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"

	"github.com/spf13/cobra"
)

// version is set by the linker in a release.
var version = ""

// buildVersion returns the release's version, or that of the module when it was installed with go install.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "v0.0.0-dev"
}

func userAgent() string {
	return fmt.Sprintf("kubectl-gc/%s (%s/%s)", buildVersion(), runtime.GOOS, runtime.GOARCH)
}

func newVersion(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the path of the plugin that runs",
		Long: `Print the version and the path of the plugin that runs.

kubectl prefers a plugin with a longer name: a kubectl-gc-tree on the PATH would take the place
of kubectl gc tree.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding the path of the plugin: %w", err)
			}
			if resolved, err := filepath.EvalSymlinks(path); err == nil {
				path = resolved
			}
			_, err = fmt.Fprintf(e.Out, "kubectl gc %s (%s, %s/%s)\n%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, path)
			return err
		},
	}
}
