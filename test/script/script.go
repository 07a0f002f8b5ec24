// Package script runs scripts of whole commands (testscript's txtar files) through the real kubectl
// against a real API server.
//
// Each script has a namespace of its own, $NS, and is the administrator until it says otherwise.
// Besides testscript's own commands it may use those of this package.
package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Main runs the tests or, called under another name by a script, the plugin. It is to be called
// from TestMain and does not return.
func Main(m *testing.M, opts ...testcluster.Option) {
	testscript.Main(testcluster.Wrap(m, opts...), map[string]func(){
		"kubectl-gc":          plugin,
		"kubectl_complete-gc": plugin,
	})
}

func plugin() { os.Exit(cmd.Process()) }

// Scripts are scripts to run: those of a folder, or the files, or both.
type Scripts struct {
	Dir   string
	Files []string
	// ThroughKubectl says of a script, by its name, whether kubectl itself starts the plugin in it.
	// In the others a shell does, which costs less than a process of kubectl for each command. Nil
	// means none.
	ThroughKubectl func(name string) bool
	// ToTheEnd has a script go on after a line that failed, so that all of what it expects is
	// compared.
	ToTheEnd bool
	// InTurn runs them one after the other, and next to other tests that are parallel.
	InTurn bool
	// Namespace is the name of the namespace of every script, which run in turn, instead of a name
	// of its own for each.
	Namespace string
	// Widths are those of terminals on which the transcripts of commands that change nothing are made
	// once more; 0 is a terminal without a width, with which the following are compared.
	Widths []int
	// LeaveNamespaces is the test at whose end the namespaces of scripts are deleted, nil for the end
	// of each script: the controller is busy with them for a while, and scripts may wait for it.
	LeaveNamespaces testing.TB
}

// serial are tests that are not parallel to each other, though testscript asks for it.
type serial struct{ *testing.T }

func (t serial) Parallel()     {}
func (t serial) Verbose() bool { return testing.Verbose() }
func (t serial) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

// Run runs scripts on a control plane, in parallel if they are not to be run in turn.
func Run(t *testing.T, cluster *testcluster.Cluster, scripts Scripts) {
	through, past := LinkKubectl(t, cluster), pastKubectl(t, cluster)
	run, deadline := func(p testscript.Params) { testscript.Run(t, p) }, time.Time{}
	if scripts.InTurn {
		run = func(p testscript.Params) { testscript.RunT(serial{t}, p) }
		if end, ok := t.Deadline(); ok {
			// A command that waits in vain fails its own script then, and not the whole package.
			deadline = time.Now().Add(time.Until(end) * 2 / 3)
		}
	}
	run(testscript.Params{
		Dir:                 scripts.Dir,
		Files:               scripts.Files,
		Deadline:            deadline,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		ContinueOnError:     scripts.ToTheEnd,
		Setup: func(env *testscript.Env) error {
			user := scripts.LeaveNamespaces
			if user == nil {
				user = env.T().(testing.TB)
			}
			ns := scripts.Namespace
			if ns == "" {
				ns = cluster.Namespace(user)
			} else if err := makeNamespace(cluster, user, ns, true); err != nil {
				return err
			}
			env.Setenv("NS", ns)
			env.Setenv("KUBECONFIG", cluster.Kubeconfig())
			env.Setenv("KUBECACHEDIR", filepath.Join(env.WorkDir, ".kubecache"))
			env.Setenv("KUBERC", "off")
			env.Setenv("GOGC", "400") // a command ends before what it would collect is in the way
			kubectl, name := past, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
			if scripts.ThroughKubectl != nil && scripts.ThroughKubectl(name) {
				kubectl = through
			}
			env.Setenv("PATH", kubectl+string(os.PathListSeparator)+env.Getenv("PATH"))
			s := &scripted{cluster: cluster, namespace: ns, t: env.T().(testing.TB), widths: scripts.Widths}
			for _, variable := range env.Vars {
				key, _, _ := strings.Cut(variable, "=")
				s.environment = append(s.environment, key)
			}
			env.Values["scripted"] = s
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"apply":      apply,
			"kube":       kube,
			"namespace":  namespace,
			"elapse":     elapse,
			"refused":    refused,
			"remade":     remade,
			"why":        why,
			"own":        own,
			"scrub":      scrub,
			"settle":     settle,
			"expand":     expand,
			"as":         as,
			"allow":      allow,
			"alike":      alike,
			"split":      split,
			"transcript": transcript,
			"typing":     typing,
			"unserved":   unserved,
			"written":    written,
		},
	})
}

// LinkKubectl makes a folder with the control plane's program under the name kubectl; it goes with
// the test.
func LinkKubectl(t *testing.T, cluster *testcluster.Cluster) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(cluster.Command(t.Context()).Path, filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pastKubectl makes a folder with a kubectl that starts the plugin as the real one would, and the
// real one for everything else.
func pastKubectl(t *testing.T, cluster *testcluster.Cluster) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nif [ \"$1\" = gc ]; then\n\tshift\n\texec kubectl-gc \"$@\"\nfi\nexec '" +
		filepath.Join(LinkKubectl(t, cluster), "kubectl") + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
