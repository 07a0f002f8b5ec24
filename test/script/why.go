package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// why CODE ARGS... runs kubectl gc why ARGS, which must exit with the code, and prints what its
// JSON holds, a line for each value: where it stands, and the value, as in "causes.0.commands.1
// kubectl describe pod/a". A script that looks at these lines does not depend on how the answer is
// laid out for people. The lines begin with "stuck.0.", "stuck.1." and so on if there is more than
// one object.
func why(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: why CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code, out := ask(ts, args[1:])
	for deadline := time.Now().Add(patience); want == 2 && code == 0 && strings.Contains(out, inProgress) &&
		time.Now().Before(deadline); {
		code, out = ask(ts, args[1:]) // nobody is blamed for what was deleted a moment ago
	}
	answered(ts, want, code, args[1:], out)
}

// remade FILE --field-manager=NAME CODE ARGS... is why CODE ARGS of objects that a controller has
// just made: it applies the file and asks. On a slow machine they are no longer new when the
// question is asked, and the answer blames the collector: then it deletes them, makes them again,
// and asks again, as such a controller would.
func remade(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: remade FILE --field-manager=NAME CODE ARGS...")
	}
	s, made, args := of(ts), args[:2], args[2:]
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	apply(ts, false, made)
	code, out := ask(ts, args[1:])
	for deadline := time.Now().Add(3 * patience); strings.Contains(out, notActing) && time.Now().Before(deadline); {
		_, err := s.cluster.Try(s.t.Context(), s.expanded(ts.ReadFile(made[0])), "delete", "-f", "-", "-n", s.namespace)
		ts.Check(err)
		apply(ts, false, made)
		code, out = ask(ts, args[1:])
	}
	answered(ts, want, code, args[1:], out)
}

// answered prints what an answer holds, and ends the script if its exit code is not the one wanted.
func answered(ts *testscript.TestScript, want, code int, args []string, out string) {
	var diagnosis map[string]any
	if err := json.Unmarshal([]byte(out), &diagnosis); err != nil {
		ts.Fatalf("kubectl gc why %s: exit code %d, %v\n%s", strings.Join(args, " "), code, err, out)
	}
	if stuck, ok := diagnosis["stuck"].([]any); ok && len(stuck) == 1 {
		delete(diagnosis, "stuck")
		maps.Copy(diagnosis, stuck[0].(map[string]any))
	}
	var lines []string
	flatten(diagnosis, "", &lines)
	_, err := fmt.Fprintln(ts.Stdout(), strings.Join(lines, "\n"))
	ts.Check(err)
	if code != want {
		ts.Fatalf("kubectl gc why %s: exit code %d, want %d", strings.Join(args, " "), code, want)
	}
}

// inProgress is in the answer about an object to which nothing has happened yet, notActing in one
// that blames the collector, and patience is for how long it is asked again.
const (
	inProgress = `"code": "InProgress"`
	notActing  = `"code": "CollectorNotActing"`
	patience   = time.Minute
)

// ask runs kubectl gc why and returns its exit code, and what it prints.
func ask(ts *testscript.TestScript, args []string) (code int, out string) {
	err := ts.Exec("kubectl", append([]string{"gc", "why", "-o", "json"}, args...)...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	return code, ts.ReadFile("stdout")
}

// flatten adds a line for each value below a node, each with its path.
func flatten(node any, path string, lines *[]string) {
	switch node := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			flatten(node[key], path+"."+key, lines)
		}
	case []any:
		for i, value := range node {
			flatten(value, path+"."+strconv.Itoa(i), lines)
		}
	default:
		*lines = append(*lines, fmt.Sprintf("%s %v", strings.TrimPrefix(path, "."), node))
	}
}
