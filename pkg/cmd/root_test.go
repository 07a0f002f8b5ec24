package cmd

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// output runs a command line that needs no cluster, and returns what it prints.
func output(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code = Main(t.Context(), streams, append([]string{"kubectl-gc"}, args...))
	return code, out.String(), errOut.String()
}

// TestHelpOfTheRootFitsOnAScreen of 24 lines and 80 columns, names every command, and leaves the
// connection flags to kubectl gc options.
func TestHelpOfTheRootFitsOnAScreen(t *testing.T) {
	for _, args := range [][]string{nil, {"-h"}, {"help"}} {
		_, help, _ := output(t, args...)
		lines := strings.Split(strings.TrimSuffix(help, "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("kubectl gc %v prints %d lines:\n%s", args, len(lines), help)
		}
		for _, line := range lines {
			if len(line) > 80 {
				t.Errorf("more than 80 columns: %s", line)
			}
		}
		for _, cmd := range NewRoot(genericiooptions.NewTestIOStreamsDiscard()).Commands() {
			if cmd.IsAvailableCommand() && !strings.Contains(help, "  "+cmd.Name()+" ") {
				t.Errorf("kubectl gc %v does not name %s", args, cmd.Name())
			}
		}
		if strings.Contains(help, "--") {
			t.Errorf("kubectl gc %v prints flags:\n%s", args, help)
		}
	}
	if _, options, _ := output(t, "options"); !strings.Contains(options, "--kubeconfig") {
		t.Errorf("kubectl gc options has no connection flags:\n%s", options)
	}
}

// TestMistypedCommandsAreSuggested: by their letters, and by the words that other tools have for
// them.
func TestMistypedCommandsAreSuggested(t *testing.T) {
	for typed, want := range map[string]string{"tre": "tree", "delte": "delete", "rm": "delete or run", "lint": "check",
		"graph": "tree", "finalize": "unfinalize", "diagnose": "why", "backup": "archive", "del": "delete",
		"whi": "why or wait"} {
		code, _, stderr := output(t, typed)
		if code != 1 || !strings.Contains(stderr, "hint: did you mean "+want+"?\n") {
			t.Errorf("kubectl gc %s: exit code %d, want %s suggested:\n%s", typed, code, want, stderr)
		}
	}
}

// TestMistypedFlagsAreSuggested, those of all commands too; a letter is near to every other one.
func TestMistypedFlagsAreSuggested(t *testing.T) {
	for typed, hint := range map[string]string{
		"delete web --dryrun":      "hint: did you mean --dry-run?\n",
		"delete web --casade=x":    "hint: did you mean --cascade?\n",
		"tree --kubeconfg=x":       "hint: did you mean --kubeconfig?\n",
		"tree --nothing-like-this": "",
		"tree -z":                  "",
	} {
		code, _, stderr := output(t, strings.Fields(typed)...)
		if code != 1 || !strings.Contains(stderr, hint+"See 'kubectl gc") || hint == "" && strings.Contains(stderr, "hint:") {
			t.Errorf("kubectl gc %s: exit code %d, want %q:\n%s", typed, code, hint, stderr)
		}
	}
}

// TestVersionIsPrintedInAllForms that tools and people ask for.
func TestVersionIsPrintedInAllForms(t *testing.T) {
	_, flag, _ := output(t, "--version")
	_, command, _ := output(t, "version")
	if flag == "" || !strings.HasPrefix(command, flag) {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
	for _, format := range []string{"json", "yaml"} {
		_, text, _ := output(t, "version", "-o", format)
		var v v1alpha1.Version
		if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
			t.Errorf("-o %s: %v\n%s", format, err, text)
		}
		if v.Kind != "Version" || v.Version != buildVersion() || v.GoVersion == "" || v.Platform == "" || v.Path == "" {
			t.Errorf("-o %s: %+v", format, v)
		}
	}
	if code, _, stderr := output(t, "version", "-o", "table"); code != 1 ||
		!strings.Contains(stderr, "unable to match a printer") {
		t.Errorf("-o table: exit code %d, %s", code, stderr)
	}
}

// TestCompletionPrintsAScriptForEachShell, and without a shell what kubectl runs.
func TestCompletionPrintsAScriptForEachShell(t *testing.T) {
	for shell, want := range map[string]string{
		"bash": "complete -o default -F __start_kubectl-gc kubectl-gc", "zsh": "#compdef kubectl-gc",
		"fish":       "complete -c kubectl-gc",
		"powershell": "Register-ArgumentCompleter -CommandName 'kubectl-gc'",
	} {
		if code, script, stderr := output(t, "completion", shell); code != 0 || !strings.Contains(script, want) {
			t.Errorf("completion %s: exit code %d, no %q in\n%s%s", shell, code, want, script, stderr)
		}
	}
	for flag, want := range map[string]string{"": plugins.CompletionShim, "--windows": plugins.WindowsCompletionShim} {
		if code, script, stderr := output(t, append([]string{"completion"}, strings.Fields(flag)...)...); code != 0 ||
			script != want {
			t.Errorf("completion %s: exit code %d, %q%s", flag, code, script, stderr)
		}
	}
	for _, refused := range []string{"tcsh", "bash zsh", "bash --windows"} {
		if code, script, _ := output(t, append([]string{"completion"}, strings.Fields(refused)...)...); code != 1 ||
			script != "" {
			t.Errorf("completion %s: exit code %d, %q", refused, code, script)
		}
	}
}

// TestShimsCallThePlugin by the name that it has on each system, with the command that completes.
func TestShimsCallThePlugin(t *testing.T) {
	for shim, want := range map[string]string{plugins.CompletionShim: `exec kubectl-gc __complete "$@"`,
		plugins.WindowsCompletionShim: `@kubectl-gc.exe __complete %*`} {
		if !strings.Contains(shim, want+"\n") {
			t.Errorf("no line %q in\n%s", want, shim)
		}
	}
}

// TestErrorsAreLinesOfJSONIfAskedFor: a collector of logs reads each line by itself.
func TestErrorsAreLinesOfJSONIfAskedFor(t *testing.T) {
	code, _, stderr := output(t, "tree", "--owners", "--log-format=json")
	if code != 1 || !strings.Contains(stderr, `"level":"ERROR","msg":"error: --owners requires an object`) ||
		!strings.Contains(stderr, `"msg":"See 'kubectl gc tree -h'`) {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := output(t, "tree", "--log-format=xml"); code != 1 ||
		!strings.HasPrefix(stderr, `error: --log-format must be text or json, not "xml"`) {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
