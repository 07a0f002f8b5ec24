package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// scripted is what the commands of one script share.
type scripted struct {
	cluster   *testcluster.Cluster
	namespace string
	t         testing.TB
	// environment are the names of the variables that a script starts with.
	environment []string
	// widths are those of the terminals on which what a transcript shows has to fit.
	widths []int
}

func of(ts *testscript.TestScript) *scripted { return ts.Value("scripted").(*scripted) }

// kubectl runs kubectl in the script's namespace and returns what it prints.
func (s *scripted) kubectl(ts *testscript.TestScript, stdin string, args ...string) string {
	out, err := s.cluster.Try(s.t.Context(), stdin, append(args, "-n", s.namespace)...)
	ts.Check(err)
	return out
}

// own DEPENDENT OWNER... gives an object ownerReferences with the uids that the owners have. An
// owner may be followed by =controller or =block, or both.
func own(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: own DEPENDENT OWNER...")
	}
	s := of(ts)
	var refs []map[string]any
	for _, arg := range args[1:] {
		name, flags, _ := strings.Cut(arg, "=")
		var owner struct {
			APIVersion, Kind string
			Metadata         struct{ Name, UID string }
		}
		ts.Check(json.Unmarshal([]byte(s.kubectl(ts, "", "get", name, "-o", "json")), &owner))
		ref := map[string]any{"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Metadata.Name,
			"uid": owner.Metadata.UID}
		if strings.Contains(flags, "controller") {
			ref["controller"] = true
		}
		if strings.Contains(flags, "block") {
			ref["blockOwnerDeletion"] = true
		}
		refs = append(refs, ref)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs}})
	ts.Check(err)
	s.kubectl(ts, "", "patch", args[0], "--type=merge", "-p", string(patch))
}

// as USER RESOURCE lets a user list and get a resource in the script's namespace, waits until the
// authorizer knows, and makes kubectl and the plugin be that user.
func as(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: as USER [RESOURCE...]")
	}
	s := of(ts)
	user := args[0] + "-" + s.namespace
	if len(args) > 1 {
		s.cluster.Allow(s.t, s.namespace, user, []string{"get", "list", "watch"}, args[1:])
	}
	ts.Setenv("KUBECONFIG", s.cluster.KubeconfigAs(s.t, user))
}

// unsettled is how much longer settle leaves an object alone between two looks than other tests do:
// controllers take seconds for what scripts wait for, and many scripts wait at a time.
const unsettled = 200 * time.Millisecond

// settle WHAT ARGS... repeats kubectl get ARGS until it prints WHAT.
func settle(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: settle WHAT ARGS...")
	}
	s := of(ts)
	testcluster.Eventually(s.t, fmt.Sprintf("kubectl get %s to print %s", strings.Join(args[1:], " "), args[0]),
		func(ctx context.Context) (bool, error) {
			out, err := s.cluster.Try(ctx, "", append([]string{"get", "-n", s.namespace}, args[1:]...)...)
			if err == nil && strings.Contains(out, args[0]) {
				return true, nil
			}
			select {
			case <-ctx.Done():
			case <-time.After(unsettled):
			}
			return false, nil
		})
}

// written FILE REGEXP waits until a file that a command in the background writes has a line that
// matches.
func written(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: written FILE REGEXP")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	testcluster.Eventually(of(ts).t, fmt.Sprintf("%s to have a line that matches %s", args[0], args[1]),
		func(context.Context) (bool, error) {
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			return want.Match(text), err
		})
}

// expand FILE... replaces in files what apply replaces.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		text := of(ts).expanded(ts.ReadFile(file))
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

// scrub takes out of what the last command printed on stdout what differs from run to run, so that
// cmp can compare it.
func scrub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: scrub")
	}
	out := scrubbed(ts.ReadFile("stdout"), of(ts).namespace)
	_, err := ts.Stdout().Write([]byte(out))
	ts.Check(err)
}

var (
	cluster   = regexp.MustCompile(`(?m)^context \S+, server https://\S+, `)
	uids      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	generated = regexp.MustCompile(`(web)-[0-9a-f]{5,10}(-[a-z0-9]{5})?\b`)
	afterName = regexp.MustCompile(`^(.*?/\S+(?: \([^)]*\))*) {2,}(.*)$`)
	ages      = regexp.MustCompile(`\b(\d+[smhdy])+\b`)
	spaces    = regexp.MustCompile(` {2,}`)
	since     = regexp.MustCompile(`\((?:\d+[smhdy])+\)`)
	ago       = regexp.MustCompile(`\b\d+ (?:s|min) ago\b`)
)

// scrubbed takes out the server and the digest of a plan, uids, ages, generated names, and the width
// of what they stood in.
func scrubbed(out, namespace string) string {
	lines := slices.DeleteFunc(strings.Split(out, "\n"),
		func(line string) bool { return strings.HasPrefix(line, "digest: sha256:") || cluster.MatchString(line) })
	first := 0 // width of the column NAMESPACE
	for i, line := range lines {
		if strings.HasPrefix(line, "NAMESPACE ") {
			first = strings.Index(line, " NAME ") + 1
			lines[i] = spaces.ReplaceAllString(line, "  ")
			continue
		}
		if first > 0 && len(line) > first && line[first-1] == ' ' && line[first-2] == ' ' {
			line = strings.TrimRight(line[:first], " ") + "  " + line[first:]
		}
		line = strings.ReplaceAll(line, namespace, "ns")
		line = uids.ReplaceAllString(line, "UID")
		line = generated.ReplaceAllStringFunc(line, func(name string) string {
			return "web" + strings.Repeat("-X", strings.Count(name, "-"))
		})
		if m := afterName.FindStringSubmatch(line); m != nil {
			line = m[1] + "  " + ages.ReplaceAllString(spaces.ReplaceAllString(m[2], "  "), "AGE")
		}
		lines[i] = ago.ReplaceAllString(since.ReplaceAllString(line, "(AGE)"), "AGE ago")
	}
	return strings.Join(lines, "\n")
}

// allow USER VERB RESOURCE [NAME] gives a user of as a right in the script's namespace, on all
// objects of a type or on one, and waits until the authorizer knows.
func allow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: allow USER VERB RESOURCE [NAME]")
	}
	s := of(ts)
	s.cluster.Allow(s.t, s.namespace, args[0]+"-"+s.namespace, args[1:2], args[2:3], args[3:]...)
}
