package tree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestOnlyCustomResourcesThatMayBeUnwellAreReadWhole: the columns say of a hundred that they are
// ready. Of the others, and of those of a kind without such columns, the status says what is wrong.
func TestOnlyCustomResourcesThatMayBeUnwellAreReadWhole(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	c.Apply(t, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pumps.readings.example.com}
spec:
  group: readings.example.com
  scope: Namespaced
  names: {plural: pumps, singular: pump, kind: Pump}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns:
    - {name: SYNCED, type: string, jsonPath: '.status.conditions[?(@.type=="Synced")].status'}
    - {name: READY, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
`)
	fixture.Define(t, c, fixture.Kind{Group: "plain.example.com", Kind: "Valve"})
	ns := c.Namespace(t)
	custom := func(group, kind, name, conditions string) string {
		return fmt.Sprintf(
			"---\napiVersion: %s/v1\nkind: %s\nmetadata: {name: %s, namespace: %s}\nstatus: {conditions: [%s]}\n", group, kind,
			name, ns, conditions)
	}
	const ready, synced = `{type: Ready, status: "True"}`, `{type: Synced, status: "True"}`
	const notSynced = `{type: Synced, status: "False", reason: ReconcileError, message: no such bucket}`
	var manifests strings.Builder
	for i := range 100 {
		manifests.WriteString(custom("readings.example.com", "Pump", fmt.Sprintf("well-%03d", i), ready+","+synced))
	}
	for i := range 6 {
		manifests.WriteString(custom("readings.example.com", "Pump", fmt.Sprintf("unwell-%d", i), ready+","+notSynced))
		manifests.WriteString(custom("plain.example.com", "Valve", fmt.Sprintf("stalled-%d", i),
			`{type: Stalled, status: "True", reason: ReconcileFailed}`))
	}
	c.Apply(t, manifests.String())

	proxy := faultproxy.Start(t, c.Config())
	config, client, catalog := fixture.ConnectFlags(t, proxy.Kubeconfig(t))
	query, err := selection.NewQuery(t.Context(), config, client, catalog,
		selection.Request{Namespace: ns, Args: []string{"pumps,valves"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := tree.Look(t.Context(), query,
		tree.Options{Depth: -1, Drawn: func(rows []graph.Row) []graph.Row { return rows }})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != 112 {
		t.Fatalf("%d rows, want 112", len(s.Rows))
	}
	for _, row := range s.Rows {
		name, columns := s.Graph.Name(row.ID), s.Readings[row.ID]
		failing := ""
		if columns.Failing != nil {
			failing = columns.Failing.Type + ": " + columns.Failing.Reason
		}
		got, want := fmt.Sprintf("%s %q", columns.Ready, failing), `True ""`
		switch {
		case strings.HasPrefix(name, "unwell"):
			want = `True "Synced: ReconcileError"`
		case strings.HasPrefix(name, "stalled"):
			want = `Failed "Stalled: ReconcileFailed"`
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, r := range proxy.Requests() {
		if strings.HasSuffix(r.Path, "/pumps") && !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") &&
			r.Query.Get("includeObject") != "None" {
			t.Errorf("all pumps were read whole: %s?%s", r.Path, r.Query.Encode())
		}
	}
}
