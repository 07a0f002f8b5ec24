package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// hostileNames are names that a server accepts for a Role: what a shell would run, and what kubectl
// would take for an option.
var hostileNames = []string{"x;touch hacked", "$(touch hacked)", "a'b;touch hacked #", "--server=evil.example",
	"--kubeconfig=evil", "=touch"}

// TestPrintedCommandsCanBePasted prints commands about objects with hostile names, stuck and not,
// in each form of each command that advises any. A shell runs what is printed without running a
// name, and none is an option.
func TestPrintedCommandsCanBePasted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	var manifest strings.Builder
	for i, name := range hostileNames {
		role := func(name, more string) {
			quoted, _ := json.Marshal(name) // of a string
			fmt.Fprintf(&manifest, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: %s\n%s\n",
				quoted, more)
		}
		// Of the packs, one has a command that protects, and one none. Nothing is known of the
		// last.
		role(name, "  finalizers: ["+[]string{"objectbucket.io/finalizer", "kubernetes.io/pv-protection",
			"example.com/hold"}[i%3]+"]")
		quoted, _ := json.Marshal(name)
		role("z"+name, fmt.Sprintf(
			"  ownerReferences: [{apiVersion: v1, kind: %s, name: %[1]s, uid: gone-%d, blockOwnerDeletion: true}, {apiVersion: v1, kind: Pod, name: %[1]s, uid: other-%[2]d}]", quoted, i))
	}
	c.Apply(t, manifest.String(), "-n", namespace)
	c.Kubectl(t, append([]string{"delete", "-n", namespace, "--wait=false", "roles.rbac.authorization.k8s.io", "--"},
		hostileNames...)...)
	t.Cleanup(func() {
		for _, name := range hostileNames {
			c.Kubectl(t, "patch", "-n", namespace, "roles.rbac.authorization.k8s.io/"+name, "--type=merge", "-p",
				`{"metadata":{"finalizers":null}}`)
		}
	})
	var commands []string
	advised := map[string]int{}
	for _, args := range [][]string{
		{"tree"}, {"tree", "-o", "wide"}, {"tree", "-o", "html", "role/" + hostileNames[0]}, {"why", "--older-than=0s"},
		{"why", "--older-than=0s", "-o", "wide"}, {"why", "--older-than=0s", "-o", "json"}, {"check"},
		{"check", "-o", "wide"}, {"check", "-o", "json"},
		{"delete", "roles", "--all", "--dry-run=client"}, {"delete", "roles", "--all", "--dry-run=client", "-o", "html"},
		{"unfinalize", "role/" + hostileNames[0]},
		{"unfinalize", "--all-stuck", "--finalizer=example.com/hold", "--dry-run=client"},
		{"rescue", "role/" + hostileNames[0], "--dry-run=client"}, {"rescue", "role/" + hostileNames[3], "--dry-run=client"},
		{"wait", "roles", "--all", "--timeout=1s"}, {"run", "--dry-run"},
	} {
		got := run(t, append(args, "-n", namespace, "--kubeconfig="+c.Kubeconfig())...)
		if len(args) > 2 && args[len(args)-2] == "-o" && args[len(args)-1] == "json" {
			for _, command := range structured(t, got.stdout) {
				advised[args[0]]++
				commands = append(commands, command)
			}
			continue
		}
		for line := range strings.Lines(got.stdout + got.stderr) {
			if strings.HasPrefix(line, "<script") {
				continue // the data of a page, which come from the same source as the JSON
			}
			if _, command, ok := strings.Cut(html.UnescapeString(line), "kubectl "); ok {
				if outside := unquoted(command); strings.Contains(outside, "touch hacked") ||
					strings.Contains(" "+outside, " --server=evil") || strings.Contains(" "+outside, " --kubeconfig=evil") {
					t.Errorf("%v prints a name as more than a word: %s", args, line)
				}
			}
		}
	}
	if advised["why"] == 0 || advised["check"] == 0 {
		t.Errorf("there is nothing to paste: %v", advised)
	}
	runsNoName(t, commands)
}

// structured returns the commands in the JSON of a diagnosis or a report.
func structured(t *testing.T, text string) []string {
	t.Helper()
	var answer struct {
		Stuck    []struct{ Causes []struct{ Commands []string } }
		Findings []struct{ Commands []string }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var all []string
	for _, s := range answer.Stuck {
		for _, cause := range s.Causes {
			all = append(all, cause.Commands...)
		}
	}
	for _, f := range answer.Findings {
		all = append(all, f.Commands...)
	}
	return all
}

var singleQuoted = regexp.MustCompile(`(\\'|'[^']*')`)

// unquoted is what of a command line is outside of quotes.
func unquoted(line string) string { return singleQuoted.ReplaceAllString(line, "_") }

// runsNoName pastes commands into a shell in which kubectl prints its arguments.
func runsNoName(t *testing.T, commands []string) {
	t.Helper()
	dir := t.TempDir()
	const kubectl = `kubectl() { for a in "$@"; do printf '<%s> ' "$a"; done; echo; }`
	shell := exec.CommandContext(t.Context(), "sh", "-c", kubectl+"\n"+strings.Join(commands, "\n"))
	shell.Dir = dir
	out, err := shell.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != len(commands) {
		t.Errorf("%d commands, and %d ran: %v\n%s\n%s", len(commands), strings.Count(string(out), "\n"), err,
			strings.Join(commands, "\n"), out)
	}
	if strings.Contains(string(out), "<--server=") || strings.Contains(string(out), "<--kubeconfig=") {
		t.Errorf("a name is an option:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
		t.Errorf("a name ran:\n%s", strings.Join(commands, "\n"))
	}
}
