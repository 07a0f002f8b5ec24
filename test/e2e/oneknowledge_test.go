package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// knownPack knows finalizers of config maps, and an operator of each namespace that removes them.
const knownPack = `
title: Known
components:
  shelf operator: {deployments: ['*/shelf'], leases: ['*/shelf'], instance: {namespace: true}}
  rack operator: {deployments: ['*/rack-*'], instance: {label: rack.example.com/name}}
finalizers:
- id: rack
  exact: rack.example.com/$NS
  kinds: [v1/ConfigMap]
  component: rack operator
  does: empties the rack
  ifRemoved: the rack stays full
  risk: leaks-external
  polarity: cleanup
  verified: source
  source: https://example.com
- id: shelf
  exact: shelf.example.com/$NS
  kinds: [v1/ConfigMap]
  component: shelf operator
  does: empties the shelf
  ifRemoved: the shelf stays full
  risk: leaks-external
  polarity: cleanup
  pausedBy: [{annotation: shelf.example.com/paused}]
  spares: [[{annotation: shelf.example.com/keep, value: 'true'}]]
  usedBy:
  - {kind: ServiceAccount, nameField: metadata.annotations.shelf, scope: same-namespace}
  verified: source
  source: https://example.com
`

// TestAllSayTheSameOfAnObject asks why, unfinalize and the plan of a deletion of the same objects:
// what one knows of what keeps an object, the others know too.
func TestAllSayTheSameOfAnObject(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	packs := filepath.Join(t.TempDir(), "packs")
	if err := os.Mkdir(packs, 0o700); err != nil {
		t.Fatal(err)
	}
	pack := strings.ReplaceAll(knownPack, "$NS", ns)
	if err := os.WriteFile(filepath.Join(packs, "known.yaml"), []byte(pack), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--packs", packs, "--kubeconfig", c.Kubeconfig()}
	t.Run("several actors", func(t *testing.T) { actorsOfTheirOwn(t, c, ns, other, flags) })
	for _, test := range []struct {
		name, metadata, more string
		// stopped is the operator in the namespace of the object, and that of another is not, or the
		// other way round.
		stopped bool
		want    string
	}{
		{"used", "", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: reader, annotations: {shelf: used}}\n", false,
			`ServiceAccount.*/reader uses? it`},
		{"paused", "annotations: {shelf.example.com/paused: since-monday}", "", false,
			`annotation shelf.example.com/paused is "since-monday"`},
		{"spared", "annotations: {shelf.example.com/keep: 'true'}", "", false, `annotation shelf.example.com/keep is true`},
		{"stopped", "", "", true, `Deployment ` + ns + `/shelf is scaled to 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			live, dead := ns, other
			if test.stopped {
				live, dead = other, ns
			}
			c.Apply(t, fixture.Deployment(live, "shelf", 0)+fixture.Lease(live, "shelf", "x", time.Now())+
				fixture.Deployment(dead, "shelf", 0)+fixture.Lease(dead, "shelf", "x", time.Now().Add(-time.Hour)))
			object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + test.name + ", finalizers: [shelf.example.com/" +
				ns + "], " + test.metadata + "}\n"
			c.Apply(t, object+"---\n"+test.more, "-n", ns)
			want := regexp.MustCompile(test.want)
			ask := func(args ...string) {
				t.Helper()
				got := run(t, append(append(args, "-n", ns), flags...)...)
				if said := strings.Join(strings.Fields(got.stdout+got.stderr), " "); !want.MatchString(said) {
					t.Errorf("%s does not say %q:\n%s%s", strings.Join(args, " "), test.want, got.stdout, got.stderr)
				}
			}
			ask("delete", "configmap/"+test.name, "--dry-run")
			c.Kubectl(t, "delete", "configmap/"+test.name, "-n", ns, "--wait=false")
			ask("why", "configmap/"+test.name)
			ask("unfinalize", "configmap/"+test.name, "--finalizer", "shelf.example.com/"+ns, "--dry-run")
		})
	}
}

// actorsOfTheirOwn are those of a namespace, and of a label: what is known of one says nothing of
// another.
func actorsOfTheirOwn(t *testing.T, c *testcluster.Cluster, ns, other string, flags []string) {
	t.Helper()
	object := func(in, name, finalizer string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + in + ", labels: {several: " +
			ns + ", rack.example.com/name: " + name + "}, finalizers: [" + finalizer + ".example.com/" + ns + "]}\n"
	}
	c.Apply(t, object(ns, "each", "shelf")+object(other, "each", "shelf"))
	for _, dead := range []string{ns, other} {
		for _, in := range []string{ns, other} {
			renewed := time.Now()
			if in == dead {
				renewed = renewed.Add(-time.Hour)
			}
			c.Apply(t, fixture.Deployment(in, "shelf", 0)+fixture.Lease(in, "shelf", "x", renewed))
		}
		got := run(t, append([]string{"delete", "configmap", "-A", "-l", "several=" + ns, "--dry-run"}, flags...)...)
		if said := strings.Join(strings.Fields(got.stdout), " "); !strings.Contains(said, "Deployment "+dead+"/shelf is scaled to 0") {
			t.Errorf("the plan does not say that the operator in %s does not run:\n%s%s", dead, got.stdout, got.stderr)
		}
	}
	c.Apply(t, object(ns, "a", "rack")+object(ns, "b", "rack"))
	for name, replicas := range map[string]int{"a": 0, "b": 1} {
		c.Apply(t, strings.ReplaceAll(fixture.Deployment(ns, "rack-"+name, replicas), "{app: rack-"+name+"}",
			"{app: rack, rack.example.com/name: "+name+"}"))
	}
	got := run(t, append([]string{"check", "configmap", "-n", ns}, flags...)...)
	if said := strings.Join(strings.Fields(got.stdout), " "); !strings.Contains(said, "rack.example.com/"+ns) ||
		strings.Contains(said, "2 objects of the type have it") {
		t.Errorf("check does not tell the operators of two labels apart:\n%s%s", got.stdout, got.stderr)
	}
}
