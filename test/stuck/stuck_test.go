package stuck

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestMain starts no control plane: each test starts one with the controllers that it needs. No test
// starts the collector or the controllers of workloads: scripts say which pods of an operator are
// ready, and what is left is left.
func TestMain(m *testing.M) { script.Main(m) }

// parts is on how many control planes the scripts run in which no namespace is deleted. Each command
// lists every type, so that on one control plane the cost grows with the scripts times their types.
const parts = 4

// TestStuck runs the scripts in which no namespace is deleted, beside what looks after claims and
// volumes.
func TestStuck(t *testing.T) {
	// It takes more than 10 s: all scripts of a part run on one control plane, and what is left on it
	// in the end is compared with a dump.
	t.Parallel()
	if _, err := Cases(os.DirFS("testdata")); err != nil {
		t.Error(err)
	}
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := range parts {
		t.Run(fmt.Sprintf("part%d", i+1), func(t *testing.T) {
			t.Parallel()
			c := testcluster.Start(t, testcluster.Controllers("persistentvolumeclaim-protection-controller",
				"persistentvolume-protection-controller"))
			side(t, c, scripts[i*len(scripts)/parts:(i+1)*len(scripts)/parts], 30)
		})
	}
}

// TestStuckNamespaces runs the scripts in which namespaces are deleted, beside the controller that
// ends them. It asks every namespace that does not go away for every type, again and again: with the
// types of all scripts, and namespaces with nothing to wait for, it does little else.
//
// It is not parallel to the others, and so before them: the sooner its scripts end, the less often
// the controller asks about those that have ended. That were half of all requests of this package.
func TestStuckNamespaces(t *testing.T) {
	scripts, err := filepath.Glob("testdata/namespaces/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	side(t, testcluster.Start(t, testcluster.Controllers("namespace-controller")), scripts, 20)
}

// side runs scripts of one folder side by side, on a control plane that has the types of all of
// them from the beginning: a type that comes or goes would be a gap in what the others list. A script
// must keep to its namespace: its webhooks and policies too, and cluster-scoped objects are called
// after it. What they leave stuck, at least so many objects, is compared with what a dump says of it.
func side(t *testing.T, c *testcluster.Cluster, scripts []string, atLeast int) {
	t.Helper()
	base, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(t, types(t, filepath.Join(filepath.Dir(scripts[0]), "types"), slices.Concat(scripts, []string{"testdata/base.yaml"})))
	c.Apply(t, string(base))
	parent := t
	t.Run("case", func(t *testing.T) {
		script.Run(t, c, script.Scripts{Files: scripts, ToTheEnd: true, LeaveNamespaces: parent})
	})
	t.Run("dump", func(t *testing.T) { ofADump(t, c, atLeast) })
}

// TestStuckAlone runs, one after the other and on a control plane of their own, the scripts that
// break what everybody lists, or that are about the whole cluster. They clean up.
func TestStuckAlone(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.Controllers("namespace-controller"))
	script.Run(t, c, script.Scripts{Dir: "testdata/alone", ToTheEnd: true, InTurn: true})
}

// types reads a list of types and returns the definitions of those whose API group is named in one
// of some files. A line of the list has the API version, kind and plural of a type, and the word
// cluster if it has no namespace.
func types(t *testing.T, list string, files []string) string {
	t.Helper()
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var named, all strings.Builder
	for _, file := range files {
		named.WriteString(read(file))
	}
	for line := range strings.Lines(read(list)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		group, version, ok := strings.Cut(words[0], "/")
		if !ok || len(words) < 3 || len(words) > 4 || len(words) == 4 && words[3] != "cluster" {
			t.Fatalf("%s: %q is not GROUP/VERSION KIND PLURAL [cluster]", list, line)
		}
		if !strings.Contains(named.String(), group) {
			continue
		}
		scope := "Namespaced"
		if len(words) == 4 {
			scope = "Cluster"
		}
		fmt.Fprintf(&all, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s, annotations: {api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: %[2]s
  scope: %[3]s
  names: {plural: %[1]s, kind: %[4]s}
  versions: [{name: %[5]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, words[2], group, scope, words[1], version)
	}
	return all.String()
}
