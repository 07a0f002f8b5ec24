package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// apply FILE [--field-manager=NAME] applies a manifest, in the script's namespace what does not
// name another. $NS in it stands for the namespace, $AGO(3h) for the time three hours ago, and
// $UID(pod/a) for the uid that an object in the script's namespace has. A status that it gives to
// an object of a built-in type is written to the subresource.
func apply(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: apply FILE [--field-manager=NAME]")
	}
	s := of(ts)
	for _, m := range manifests(ts, s.expanded(ts.ReadFile(args[0]))) {
		ns := m.namespace
		if ns == "" {
			ns = s.namespace
		}
		_, err := s.cluster.Try(s.t.Context(), m.text,
			append([]string{"apply", "--server-side", "-f", "-", "-n", ns}, args[1:]...)...)
		ts.Check(err)
		for object, status := range m.statuses {
			_, err := s.cluster.Try(s.t.Context(), "", "patch", object, "-n", ns, "--subresource=status", "--type=merge",
				"-p", status)
			ts.Check(err)
		}
	}
}

// manifest are documents that go to one namespace, and what is to be their status, by TYPE/NAME.
type manifest struct {
	namespace, text string
	statuses        map[string]string
}

// manifests takes a YAML stream apart, in its order.
func manifests(ts *testscript.TestScript, text string) []manifest {
	var all []manifest
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		ts.Check(err)
		var o struct {
			APIVersion, Kind string
			Metadata         struct{ Name, Namespace string }
			Status           json.RawMessage
		}
		ts.Check(yaml.Unmarshal(doc, &o))
		if len(all) == 0 || all[len(all)-1].namespace != o.Metadata.Namespace {
			all = append(all, manifest{namespace: o.Metadata.Namespace, statuses: map[string]string{}})
		}
		last := &all[len(all)-1]
		last.text += "---\n" + string(doc)
		if group, version, ok := strings.Cut(o.APIVersion, "/"); o.Status != nil && (!ok || builtIn(group)) {
			object := o.Kind + "/" + o.Metadata.Name
			if ok {
				object = o.Kind + "." + version + "." + group + "/" + o.Metadata.Name
			}
			last.statuses[object] = `{"status":` + string(o.Status) + `}`
		}
	}
}

// builtIn reports whether an API group is Kubernetes' own; the custom types of scripts have no
// subresource for the status.
func builtIn(group string) bool {
	return slices.Contains([]string{"apps", "batch", "autoscaling", "policy", "resource.k8s.io", "storage.k8s.io",
		"networking.k8s.io"}, group)
}

var (
	past = regexp.MustCompile(`\$AGO\((\w+)\)`)
	uid  = regexp.MustCompile(`\$UID\(([^)]+)\)`)
)

// expanded replaces $NS, $AGO(DURATION) and $UID(TYPE/NAME) in a text.
func (s *scripted) expanded(text string) string {
	text = strings.ReplaceAll(text, "$NS", s.namespace)
	text = uid.ReplaceAllStringFunc(text, func(found string) string {
		out, err := s.cluster.Try(s.t.Context(), "", "get", uid.FindStringSubmatch(found)[1], "-n", s.namespace, "-o",
			"jsonpath={.metadata.uid}")
		if err != nil {
			s.t.Fatal(err)
		}
		return out
	})
	return past.ReplaceAllStringFunc(text, func(found string) string {
		ago, err := time.ParseDuration(past.FindStringSubmatch(found)[1])
		if err != nil {
			s.t.Fatalf("%s: %v", found, err)
		}
		return time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000000Z")
	})
}

// kube ARGS... is kubectl, in the script's namespace unless another is named, and without a process
// of its own where that can be.
func kube(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	if !slices.ContainsFunc(args, func(arg string) bool { return arg == "-n" || arg == "-A" }) {
		args = append(args, "-n", s.namespace)
	}
	out, err := s.cluster.Try(s.t.Context(), "", args...)
	if neg {
		if err == nil {
			ts.Fatalf("kubectl %s succeeded", strings.Join(args, " "))
		}
		_, err = fmt.Fprintln(ts.Stderr(), err)
	} else if err == nil {
		_, err = io.WriteString(ts.Stdout(), out)
	}
	ts.Check(err)
}

// namespace NAME... makes namespaces besides the script's own. They are deleted at its end.
func namespace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: namespace NAME...")
	}
	s := of(ts)
	for _, name := range args {
		ts.Check(makeNamespace(s.cluster, s.t, name, false))
	}
}

// makeNamespace makes a namespace that is deleted at a test's end, which waits for it to be gone if
// it is told to.
func makeNamespace(cluster *testcluster.Cluster, t testing.TB, name string, wait bool) error {
	t.Cleanup(func() {
		_, err := cluster.Try(context.Background(), "", "delete", "namespace", name, "--ignore-not-found",
			"--wait="+strconv.FormatBool(wait), "--timeout=1m")
		if err != nil {
			t.Error(err)
		}
	})
	_, err := cluster.Try(t.Context(), "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n", "apply",
		"--server-side", "-f", "-")
	return err
}

// elapse TYPE/NAME [DURATION] waits until the grace period of an object that is being deleted is
// over, or that long has passed since.
func elapse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: elapse TYPE/NAME [DURATION]")
	}
	after := 100 * time.Millisecond
	if len(args) == 2 {
		var err error
		after, err = time.ParseDuration(args[1])
		ts.Check(err)
	}
	at, err := time.Parse(time.RFC3339,
		of(ts).kubectl(ts, "", "get", args[0], "-o", "jsonpath={.metadata.deletionTimestamp}"))
	ts.Check(err)
	time.Sleep(time.Until(at) + after) // what only the clock decides cannot be watched
}

// unserved GROUP waits until discovery shows no type of a group: it does for a moment longer than
// there is one, and a listing has a gap then.
func unserved(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unserved GROUP")
	}
	s := of(ts)
	testcluster.Eventually(s.t, "discovery to show nothing of "+args[0], func(ctx context.Context) (bool, error) {
		types, err := s.cluster.Try(ctx, "", "api-resources", "--cached=false", "--api-group="+args[0], "-o", "name")
		return err == nil && types == "", nil
	})
}

// refused ARGS... repeats a command of kubectl in the script's namespace until the server refuses
// it, with a "!" in front until it accepts it: an admission policy takes effect a moment after it
// was written. What the command does meanwhile is done, so it should be one that changes nothing,
// or a dry run.
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: [!] refused ARGS...")
	}
	s := of(ts)
	becomes := " to be refused"
	if neg {
		becomes = " to be accepted"
	}
	testcluster.Eventually(s.t, "kubectl "+strings.Join(args, " ")+becomes, func(ctx context.Context) (bool, error) {
		_, err := s.cluster.Try(ctx, "", append(slices.Clone(args), "-n", s.namespace)...)
		return (err != nil) != neg, nil
	})
}
