package testcluster

import (
	"strings"
	"testing"
)

// TestVerbsDoWhatKubectlDoes runs command lines through kubectl and without it, each in a namespace
// of its own, and compares what they print and leave.
func TestVerbsDoWhatKubectlDoes(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	type step struct{ stdin, line string }
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, finalizers: [example.com/x]}\ndata: {a: b}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: two}\n"
	steps := []step{
		{manifest, "apply --server-side -f -"},
		{manifest, "apply --server-side -f - --field-manager=me"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: c}\n", "apply --server-side -f -"}, // a conflict
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ntypo: {}\n", "apply --server-side -f -"},
		{"apiVersion: v1\nkind: Nothing\nmetadata: {name: one}\n", "apply --server-side -f -"},
		{"", "create configmap three"},
		{"", "create configmap three"},
		{"", "get configmap one -o jsonpath={.data.a}/{.metadata.name}/{.nothing}"},
		{"", "get configmap/one secret/two -o name"},
		{"", "get configmaps,secrets -o name"},
		{"", "get cm,secrets -o jsonpath={.items[*].metadata.name}"},
		{"", "get cm -o jsonpath={.items[*].metadata.managedFields[*].manager}"},
		{"", "get configmap none -o name"},
		{"", "get configmap none -o name --ignore-not-found"},
		{"", "get nothing none -o name --ignore-not-found"},
		{"", `patch configmap one --type=merge -p {"data":{"a":"d"}}`},
		{"", `patch configmaps one three --type=json -p [{"op":"add","path":"/metadata/labels","value":{"l":"v"}}]`},
		{"", `patch configmap one --type=merge -p {"data":{"a":"e"}} --dry-run=server`},
		{"", `patch configmap none --type=merge -p {}`},
		{"", "delete configmap three --dry-run=server"},
		{"", "get configmap three -o name"},
		{"", "delete configmap three none"},
		{"", "delete configmap three --ignore-not-found"},
		{"", "create namespace NS-of"},
		{"", "get namespace NS-of -o jsonpath={.metadata.managedFields[*].manager}"},
		{"", "delete namespace NS-of --wait=false --timeout=1m"},
		{"", "delete configmap one --timeout=soon"},
		{"", "delete configmap one --wait=false --cascade=foreground"},
		{"", "get configmap one -o jsonpath={.metadata.finalizers}{.metadata.labels}{.data}{.metadata.managedFields[*].manager}"},
	}
	direct, through := c.Namespace(t), c.Namespace(t)
	for _, s := range steps {
		args := strings.Fields(s.line)
		got, known, err := c.requests.try(t.Context(), s.stdin, in(args, direct))
		if !known {
			t.Errorf("%s: a process was to be started", s.line)
		}
		cmd := c.Command(t.Context(), in(args, through)...)
		cmd.Stdin = strings.NewReader(s.stdin)
		want, failure := output(cmd)
		if (err != nil) != (failure != nil) || args[0] == "get" && got != want {
			t.Errorf("%s: %q, %v; with kubectl %q, %v", s.line, got, err, want, failure)
		}
	}
}

// in is a command line in a namespace, which NS in its words stands for.
func in(args []string, namespace string) []string {
	var line []string
	for _, arg := range args {
		line = append(line, strings.ReplaceAll(arg, "NS", namespace))
	}
	return append(line, "-n", namespace)
}

// TestOtherCommandLinesAreKubectls: what is not known as a whole is not done by halves.
func TestOtherCommandLinesAreKubectls(t *testing.T) {
	for _, line := range []string{
		"", "version", "scale deployment/web --replicas=2", "get pods", "get pods -o wide", "get pods -o json -A",
		"get -o name", "get --raw=/api -o name",
		"delete", "delete pods --all", "delete pod a --force", "delete pod a --dry-run=client", "patch cm a -p {}",
		"patch cm a --type=strategic -p {}",
		"patch cm a --type=merge -p {} --dry-run=client", "create secret generic a", "create configmap a --from-literal=a=b",
		"apply -f -", "apply --server-side -f file",
		"get cm a -o name -o json",
	} {
		if l, ok := parse(strings.Fields(line)); ok && verbs[l.verb].fits(l) {
			t.Errorf("%q is not left to kubectl", line)
		}
	}
}
