package cluster

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// claim makes PersistentVolumeClaims in a namespace, and gives them their phase, which is in their
// column STATUS.
func claim(t *testing.T, c *testcluster.Cluster, namespace, phase string, names ...string) {
	t.Helper()
	for _, name := range names {
		c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s, namespace: %s}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, name, namespace))
		c.Kubectl(t, "patch", "pvc", name, "-n", namespace, "--subresource=status", "--type=merge", "-p",
			fmt.Sprintf(`{"status":{"phase":%q}}`, phase))
	}
}

// columnsOf lists claims and configmaps, lets something happen, and reads the columns of those
// objects in the namespaces that are wanted, by namespace/name.
func columnsOf(t *testing.T, config *rest.Config, meanwhile func(), wanted func(graph.Ref) bool) map[string]string {
	t.Helper()
	client, err := New(config, 0)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := client.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := graph.NewBuilder()
	types := func(r Resource) bool {
		return r.Group == "" && (r.Resource == "persistentvolumeclaims" || r.Resource == "configmaps")
	}
	listed, err := client.List(t.Context(), catalog, ListOptions{Types: types}, b)
	if err != nil {
		t.Fatal(err)
	}
	g := b.Build()
	meanwhile()
	var ids []graph.ID
	for i := range g.Len() {
		if id := graph.ID(i); g.Observed(id) && wanted(g.Ref(id)) {
			ids = append(ids, id)
		}
	}
	columns, err := client.PrinterColumns(t.Context(), g, ids, listed.ResumePoints)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for id, c := range columns {
		said[g.Ref(id).Namespace+"/"+g.Ref(id).Name] = c.Ready + c.Status
	}
	return said
}

// TestColumnsOfOneNameInManyNamespaces: rows of a list of all namespaces do not say in which
// namespace they are. Each is given to its own object, whatever has come and gone since the graph
// was listed; and where the list does not come, or has other rows, the namespaces are asked one by
// one.
func TestColumnsOfOneNameInManyNamespaces(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	all := func(r *http.Request) bool { return r.URL.Path == "/api/v1/persistentvolumeclaims" && isTable(r) }
	for name, test := range map[string]struct {
		fault faultproxy.Fault
		// byNamespace says that the namespaces are asked.
		byNamespace bool
	}{
		"as of the graph":         {},
		"expired":                 {faultproxy.Status(410, "Expired", "the requested resourceVersion is too old"), true},
		"forbidden":               {faultproxy.Status(403, "Forbidden", "no"), true},
		"a row is missing":        {faultproxy.Edit(editRows(func(rows []any) []any { return rows[1:] })), true},
		"the last row is missing": {faultproxy.Edit(editRows(func(rows []any) []any { return rows[:len(rows)-1] })), true},
		"a row more": {faultproxy.Edit(editRows(func(rows []any) []any {
			return append(rows, rows[0])
		})), true},
		"cut off": {faultproxy.Truncate(700), true},
		"rows in another order": {faultproxy.Edit(editRows(func(rows []any) []any {
			slices.Reverse(rows)
			return rows
		})), true},
		"no table, but the object": {faultproxy.Edit(func(any) any {
			return map[string]any{"kind": "PersistentVolumeClaimList"}
		}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := faultproxy.Start(t, c.Config())
			if test.fault != nil {
				proxy.On(all, test.fault)
			}
			want, spaces := map[string]string{}, []string{}
			for _, phase := range []string{"Bound", "Lost", "Pending", "Bound"} {
				ns := c.Namespace(t)
				claim(t, c, ns, phase, "data", "data-"+strings.ToLower(phase))
				want[ns+"/data"], want[ns+"/data-"+strings.ToLower(phase)] = phase, phase
				spaces = append(spaces, ns)
			}
			first := slices.Min(spaces)
			got := columnsOf(t, proxy.Config(), func() {
				claim(t, c, first, "Pending", "a-new-one")
				if !test.byNamespace { // what is gone has no columns where the namespaces are asked as they are now
					c.Kubectl(t, "patch", "pvc", "data", "-n", first, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
					c.Kubectl(t, "delete", "pvc", "data", "-n", first)
				}
			}, func(r graph.Ref) bool { return slices.Contains(spaces, r.Namespace) })
			if !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			everywhere, of := 0, 0
			for _, r := range proxy.Requests() {
				switch {
				case r.Path == "/api/v1/persistentvolumeclaims" && r.Query.Get("resourceVersionMatch") == "Exact":
					everywhere++
				case strings.HasSuffix(r.Path, "/persistentvolumeclaims") && r.Query.Get("includeObject") == "None" &&
					strings.Contains(r.Path, "/namespaces/"):
					of++
				}
			}
			if everywhere != 1 || (of > 0) != test.byNamespace {
				t.Errorf("asked for all namespaces %d times and for one %d times", everywhere, of)
			}
		})
	}
}

// isTable reports whether a request asks for a table.
func isTable(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "as=Table") }

// editRows changes the rows of a table.
func editRows(edit func([]any) []any) func(any) any {
	return func(v any) any {
		if table, ok := v.(map[string]any); ok && table["rows"] != nil {
			table["rows"] = edit(table["rows"].([]any))
		}
		return v
	}
}

// TestATypeWithoutTheColumnsIsAskedOnce: ConfigMaps have neither READY nor STATUS, in however many
// namespaces they are.
func TestATypeWithoutTheColumnsIsAskedOnce(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	spaces := []string{}
	for range 8 {
		ns := c.Namespace(t)
		c.Apply(t, configMaps(ns, 12))
		spaces = append(spaces, ns)
	}
	got := columnsOf(t, proxy.Config(), func() {}, func(r graph.Ref) bool { return slices.Contains(spaces, r.Namespace) })
	if len(got) != 0 {
		t.Errorf("columns of ConfigMaps: %v", got)
	}
	asked := 0
	for _, r := range proxy.Requests() {
		if r.Query.Has("includeObject") {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

// TestColumnsEndWithTheContext: an interrupt is an error, and no reading without columns.
func TestColumnsEndWithTheContext(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 1))
	g, listed := list(t, c.Config(), ListOptions{Namespace: ns})
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	id, _ := g.Find("", "configmaps", ns, "c000")
	if _, err := client.PrinterColumns(ctx, g, []graph.ID{id}, listed.ResumePoints); err == nil {
		t.Error("no error after an interrupt")
	}
}
