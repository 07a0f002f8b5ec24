package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// alike CODE GONE ARGS... runs kubectl delete and kubectl gc delete --yes with the arguments, each
// time with a config map "one" in the namespace, and fails unless both exit with the code, say the
// same on stderr, and leave the config map or delete it: GONE is one or none.
func alike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || args[1] != "one" && args[1] != "none" {
		ts.Fatalf("usage: alike CODE one|none ARGS...")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := of(ts)
	said := map[string]string{}
	for _, command := range []string{"delete", "gc delete --yes"} {
		s.kubectl(ts, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n", "apply", "--server-side", "-f", "-")
		err := ts.Exec("kubectl", append(append(strings.Fields(command), args[2:]...), "-n", s.namespace)...)
		var exit *exec.ExitError
		got := 0
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		} else {
			ts.Check(err)
		}
		gone := "none"
		if s.kubectl(ts, "", "get", "configmap", "one", "--ignore-not-found", "-o", "name") == "" {
			gone = "one"
		}
		if got != code || gone != args[1] {
			ts.Fatalf("kubectl %s: exit code %d and %s is gone, want %d and %s", command, got, gone, code, args[1])
		}
		said[command] = sayings(ts.ReadFile("stderr"))
	}
	if said["delete"] != said["gc delete --yes"] {
		ts.Fatalf("kubectl says:\n%skubectl gc says:\n%s", said["delete"], said["gc delete --yes"])
	}
}

// sayings leaves out where to find help, which differs.
func sayings(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "See '") && !strings.HasPrefix(line, "hint: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// split FILE writes the documents of a YAML stream into files 0.yaml, 1.yaml and so on, as kubectl
// splits it.
func split(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: split FILE")
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(ts.ReadFile(args[0]))))
	for i := 0; ; i++ {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("%d.yaml", i)), doc, 0o600))
	}
}
