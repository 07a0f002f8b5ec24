// Package completion tests shell completion of kubectl gc through the real kubectl.
package completion

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { script.Main(m) }

const objects = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: secrets-of-the-house}
`

// TestCompletion asks kubectl what a shell would ask it after a tab, once with the script of
// plugins/ on the PATH and once with a link to the plugin in its place.
func TestCompletion(t *testing.T) {
	cluster := testcluster.Shared(t)
	namespace := cluster.Namespace(t)
	cluster.Apply(t, objects, "-n", namespace)
	plugin, err := exec.LookPath("kubectl-gc") // this test's own program, which script.Main puts on the PATH
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		want []string // among the candidates
		not  []string
	}{
		{"commands", []string{""}, []string{"tree", "completion", "version"}, []string{"__complete"}},
		{"types", []string{"tree", ""}, []string{"deployments", "configmaps", "namespaces", "customresourcedefinitions"},
			[]string{"web", "bindings"}},
		{"types by prefix", []string{"tree", "depl"}, []string{"deployments"}, []string{"configmaps"}},
		{"names", []string{"tree", "-n", namespace, "deployments", ""}, []string{"web"}, []string{"deployments", "settings"}},
		{"names of a short name", []string{"tree", "-n", namespace, "cm", "se"}, []string{"settings", "secrets-of-the-house"},
			[]string{"web"}},
		{"names that are not there yet", []string{"tree", "-n", namespace, "cm", "settings", "se"},
			[]string{"secrets-of-the-house"}, []string{"settings"}},
		{"names after a slash", []string{"tree", "-n", namespace, "deployments/"}, []string{"deployments/web"}, nil},
		{"namespaces", []string{"tree", "-n", ""}, []string{namespace, "default", "kube-system"}, []string{"deployments"}},
		{"namespaces, long", []string{"tree", "--namespace", "kube-s"}, []string{"kube-system"}, []string{"default"}},
		{"contexts", []string{"tree", "--context", ""}, []string{"controlplane"}, nil},
		{"flags", []string{"tree", "--"}, []string{"--owners", "--depth", "--links", "--namespace", "--as", "--color"},
			[]string{"deployments"}},
		{"formats", []string{"tree", "-o", ""}, []string{"wide", "json", "mermaid"}, []string{"deployments"}},
		{"shells", []string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}, nil},
		{"colours", []string{"tree", "--color", ""}, []string{"auto", "always", "never"}, nil},
		{"lists of types", []string{"tree", "--exclude-types", "pods,depl"}, []string{"pods,deployments"}, nil},
	}
	t.Run("printed script", func(t *testing.T) { checkPrinted(t, plugin) })
	for _, shim := range shims(t, plugin) {
		path := directory(t, plugin, shim.target)
		t.Run(shim.name, func(t *testing.T) {
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					got := complete(t, cluster, path, test.args)
					for _, want := range test.want {
						if !slices.Contains(got, want) {
							t.Errorf("kubectl gc %s: %q is not offered among %q", strings.Join(test.args, " "), want, got)
						}
					}
					for _, not := range test.not {
						if slices.Contains(got, not) {
							t.Errorf("kubectl gc %s: %q is offered", strings.Join(test.args, " "), not)
						}
					}
				})
			}
		})
	}
}

// checkPrinted holds what kubectl gc completion prints, and krew's users install, against the
// script of plugins/.
func checkPrinted(t *testing.T, plugin string) {
	got, err := exec.CommandContext(t.Context(), plugin, "completion").Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(shimScript)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("it prints\n%s, want\n%s", got, want)
	}
}

// shimScript is what kubectl runs, under this name and in a folder of the PATH.
const shimScript = "../../plugins/kubectl_complete-gc"

type shim struct{ name, target string }

func shims(t *testing.T, plugin string) []shim {
	t.Helper()
	path, err := filepath.Abs(shimScript)
	if err != nil {
		t.Fatal(err)
	}
	return []shim{{"script", path}, {"link to the plugin", plugin}}
}

// directory makes a folder as an installation would: the plugin and what completes it.
func directory(t *testing.T, plugin, shim string) string {
	t.Helper()
	dir := t.TempDir()
	for name, target := range map[string]string{"kubectl-gc": plugin, "kubectl_complete-gc": shim} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// complete gives what kubectl offers for the last word of kubectl gc ARGS, without the
// descriptions. It fails if the shell would then offer files, too, because none of the words is
// one.
func complete(t *testing.T, cluster *testcluster.Cluster, dir string, args []string) []string {
	t.Helper()
	cmd := cluster.Command(t.Context(), append([]string{"__complete", "gc"}, args...)...)
	cmd.Env = append(cmd.Env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl __complete gc %s: %v", strings.Join(args, " "), err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	last := len(lines) - 1
	directive, err := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil || cobra.ShellCompDirective(directive)&cobra.ShellCompDirectiveNoFileComp == 0 {
		t.Errorf("kubectl __complete gc %s: the last line is %q, which does not keep files out", strings.Join(args, " "),
			lines[last])
	}
	words := lines[:last]
	for i := range words {
		words[i], _, _ = strings.Cut(words[i], "\t")
	}
	return words
}
