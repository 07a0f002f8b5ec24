package render_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// remarkable plans the deletion of an application about which there is much to say.
func remarkable(t *testing.T) (render.Plan, func(string) graph.ID) {
	t.Helper()
	loose := ref(deployments, "app")
	blocking := controller(deployments, "app")
	wrong := ref(configMaps, "alive")
	wrong.Name = "living\x1b[2J"
	unserved := graph.OwnerReference{APIVersion: "example.com/v9", Kind: "Widget\x1b]0;", Name: "w", UID: "uid-w"}
	g := snapshot(map[graph.Type][]graph.Object{
		deployments: {object("shop", "app", time.Hour)},
		pods: {object("shop", "p1", time.Hour, blocking), object("shop", "p2", time.Hour, blocking),
			object("shop", "p3", time.Hour, blocking)},
		configMaps: {object("shop", "alive", time.Hour), object("shop", "misnamed", time.Hour, blocking, wrong),
			object("shop", "l1", time.Hour, loose), object("shop", "odd", time.Hour, loose, unserved)},
		clusterRoles: {object("", "wide", time.Hour, loose)},
	})
	at := func(name string) graph.ID {
		id, ok := g.Lookup("uid-" + name)
		if !ok {
			t.Fatalf("no object %s", name)
		}
		return id
	}
	return render.Plan{Plan: plan.New(g, []graph.ID{at("app")}, plan.Foreground, plan.Options{})}, at
}

func TestRemarks(t *testing.T) {
	p, at := remarkable(t)
	running := plan.Pod{Node: "n", GracePeriodSeconds: 30}
	p.Learn(plan.Details{
		Pods: map[graph.ID]plan.Pod{at("p1"): running, at("p2"): {Node: "n", GracePeriodSeconds: 600}},
		Facts: plan.Facts{Unread: []graph.ID{at("p3")},
			Forbidden: []plan.Forbidden{{Object: at("app"), Verb: "delete", Resource: "deployments", Reason: "RBAC: nowhere"}}},
	})
	if diff := cmp.Diff([]string{`you may not delete deployments.apps in namespace "shop"`}, p.Denials()); diff != "" {
		t.Errorf("denials (-want +got):\n%s", diff)
	}
	want := []string{
		"2 pods terminate gracefully, up to 600 s",
		"not read: 1 Pod (it could not be read); how long pods take to terminate, which PVCs are kept and which finalizers the specs of namespaces have is unknown",
		"the foreground deletion does not wait for 1 dependent: blockOwnerDeletion is not set (--strict sets it)",
		`1 object is deleted although one of its owners is kept: ConfigMap/misnamed (its reference names ConfigMap/living^[[2J, and its uid is that of ConfigMap/alive)`,
	}
	if diff := cmp.Diff(want, p.Remarks()); diff != "" {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
	o := p.Printed(nil)
	var found []string
	for _, f := range o.Findings {
		found = append(found, f.Code+" "+f.Severity)
		if !slices.Contains(want, f.Message) {
			t.Errorf("finding %q is no remark", f.Message)
		}
	}
	if diff := cmp.Diff([]string{"GracePeriod info", "NotRead warning", "NotBlocking info", "OwnerKept warning"},
		found); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if last := o.Findings[len(o.Findings)-1]; len(last.Objects) != 1 || last.Objects[0].Name != "misnamed" {
		t.Errorf("finding %+v", last)
	}
	reasons := map[string]string{}
	for _, s := range o.Survivors {
		reasons[s.Object.Name] = s.Because
	}
	for name, want := range map[string]string{
		"wide": "cluster-scoped, but its reference names Deployment/app, which is namespaced: the collector never acts on it",
		"odd":  "its reference names kind Widget^[]0; of example.com/v9, which discovery does not show: the collector never acts on it",
	} {
		if reasons[name] != want {
			t.Errorf("%s: %q, want %q", name, reasons[name], want)
		}
	}
	if len(o.Forbidden) != 1 || o.Forbidden[0].Reason != `you may not delete deployments.apps "app" in namespace "shop": RBAC: nowhere` {
		t.Errorf("forbidden %+v", o.Forbidden)
	}
	if len(o.NonBlocking) != 1 || o.NonBlocking[0].Object.Name != "l1" || o.NonBlocking[0].Owner.Name != "app" {
		t.Errorf("nonBlocking %+v", o.NonBlocking)
	}
	if len(o.Unread) != 1 || o.Unread[0].Name != "p3" {
		t.Errorf("unread %+v", o.Unread)
	}
}

// TestPlanTableFitsATerminal: with much to say of every row, the rows stay within 100 columns.
func TestPlanTableFitsATerminal(t *testing.T) {
	p, at := remarkable(t)
	p.Learn(plan.Details{Pods: map[graph.ID]plan.Pod{at("p1"): {Node: "n", GracePeriodSeconds: 30}}})
	p.Rows = p.Graph.Walk(p.Roots, graph.TreeOptions{Depth: -1})
	var out bytes.Buffer
	if err := render.PlanTable(&out, p, render.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	end := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "deletes ") })
	if end < 5 {
		t.Fatalf("no summary:\n%s", &out)
	}
	for _, line := range lines[:end] {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestEveryCodeOfAPlanIsThereOnce: programs go by them.
func TestEveryCodeOfAPlanIsThereOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	render.FindingCodes(func(code, severity, means string) {
		if seen[code] || code == "" || means == "" || !slices.Contains([]string{"error", "warning", "info"}, severity) {
			t.Errorf("%s, %s, %q", code, severity, means)
		}
		seen[code] = true
	})
	if len(seen) == 0 {
		t.Error("there are no codes")
	}
}

// TestRemarksOfConfirmations: who has to confirm a deletion is told that, with the command, in the
// summary and in what is waited for; and that it is not known, with the reason.
func TestRemarksOfConfirmations(t *testing.T) {
	p, at := remarkable(t)
	app := p.Graph.Ref(at("app"))
	c := plan.Confirmation{Object: app, Finalizer: "example.com/ask", Annotation: "example.com/approved",
		Waits: "Example waits until somebody confirms the deletion of ConfigMap shop/a\x1b[2J"}
	p.Learn(plan.Details{Facts: plan.Facts{Confirmations: []plan.Confirmation{c},
		Unexamined: 2, Unread: []graph.ID{at("p1"), at("p2")}, UnreadConfirmations: []graph.ID{at("alive")}, UnreadSpared: []graph.ID{at("l1"), at("odd")},
		TooMany: []graph.ID{at("p1"), at("p2"), at("l1"), at("odd")}}})
	lines := strings.Join(append(p.Remarks(), p.Summary()), "\n")
	for _, want := range []string{
		"Deployment/app: Example waits until somebody confirms the deletion of ConfigMap shop/a^[[2J; once its deletion has begun, " +
			`this command confirms it: kubectl annotate deployments.apps/app -n shop example.com/approved="$(date -u +%Y-%m-%dT%H:%M:%SZ)" --overwrite`,
		"it is unknown whether somebody has to confirm the deletion of ConfigMap/alive: it could not be read",
		"it is unknown whether what ConfigMap/l1, ConfigMap/odd manages outside the cluster stays: there are too many to read",
		"not examined: whether the controllers of 2 more finalizers run",
		"not read: 2 Pods (there are too many to read); how long",
		"; not complete until somebody confirms the deletion of Deployment/app",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("%s\nhas not: %s", lines, want)
		}
	}
	left := act.Blocked{Object: app, Deleting: true, Finalizers: []string{"example.com/ask", "example.com/more"}}
	w := render.Waits{Now: time.Now(), Confirmations: p.Confirmations}
	if got, want := w.For(left), "Example waits until somebody confirms the deletion of ConfigMap shop/a^[[2J; finalizer example.com/more"; got != want {
		t.Errorf("it waits for: %s, want %s", got, want)
	}
}
