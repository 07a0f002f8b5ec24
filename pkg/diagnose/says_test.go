package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// heldDeployment makes a Deployment with a finalizer and a status, and deletes it.
func heldDeployment(t testing.TB, c *testcluster.Cluster, ns, name, finalizer, status string) {
	t.Helper()
	c.Apply(t, strings.Replace(fixture.Deployment(ns, name, 0), "labels:", "finalizers: ["+finalizer+"], labels:", 1))
	fixture.Free(t, c, ns, "deployment/"+name)
	c.Kubectl(t, "patch", "deployment", name, "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":`+status+`}`)
	deleted(t, c, "deployment", name, "-n", ns)
}

// warn writes a Warning event about a Deployment.
func warn(t testing.TB, c *testcluster.Cluster, ns, name, reason, message string, count int, ago time.Duration) {
	t.Helper()
	uid := c.Kubectl(t, "get", "deployment", name, "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: Event\nmetadata: {name: %s.%s, namespace: %s}\ntype: Warning\nreason: %s\nmessage: %q\ncount: %d\nlastTimestamp: %q\ninvolvedObject: {apiVersion: apps/v1, kind: Deployment, namespace: %s, name: %s, uid: %s}\n",
		name, strings.ToLower(reason), ns, reason, message, count, time.Now().Add(-ago).UTC().Format(time.RFC3339), ns,
		name, uid))
}

const notSynced = `{"conditions":[
	{"type":"Ready","status":"True","message":"all failed things are well"},
	{"type":"Synced","status":"False","reason":"ReconcileError","message":"cannot delete while\n bucket in use"},
	{"type":"Stalled","status":"True","reason":"AuthFailure"}]}`

// TestAnObjectsOwnWordsComeFirstWhateverIsKnownOfItsActor: its failing conditions and its last
// warnings, before what is known of an actor that lives, is scaled to 0, or is not known.
func TestAnObjectsOwnWordsComeFirstWhateverIsKnownOfItsActor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Deployment(ns, "op", 0)+fixture.Lease(ns, "leader", "me", time.Now()))
	for name, finalizer := range map[string]string{"alive": "example.com/alive", "dead": "example.com/dead",
		"unknown": "nobody.example.net/x"} {
		heldDeployment(t, c, ns, name, finalizer, notSynced)
	}
	warn(t, c, ns, "dead", "DeleteFailed", "AuthFailure: the credentials are not valid", 7, time.Hour)
	warn(t, c, ns, "dead", "Throttled", "too many requests", 1, 3*time.Minute)
	packs := fixture.Pack(t, "example.com/dead",
		fmt.Sprintf("deployments: ['%s/op']", ns)).With(renamed(t,
		fixture.Pack(t, "example.com/alive", fmt.Sprintf("leases: ['%s/leader']", ns))))
	d := examine(t, c.Config(), Options{Known: packs}, ns)
	for _, name := range []string{"alive", "dead", "unknown"} {
		cause := stuckOf(t, d, name).Causes[0]
		if len(cause.Evidence) < 2 {
			t.Fatalf("%s: evidence %q", name, cause.Evidence)
		}
		if want := "its condition Synced is False (ReconcileError): cannot delete while bucket in use"; cause.Evidence[0] != want {
			t.Errorf("%s: the evidence begins with %q, want %q", name, cause.Evidence[0], want)
		}
		if want := "its condition Stalled is True (AuthFailure)"; cause.Evidence[1] != want {
			t.Errorf("%s: the evidence goes on with %q, want %q", name, cause.Evidence[1], want)
		}
		if want := "Deployment " + ns + "/" + name + " status.conditions[Synced]"; cause.Observations[0].From != want {
			t.Errorf("%s: it was read at %q, want %q", name, cause.Observations[0].From, want)
		}
	}
	dead := stuckOf(t, d, "dead").Causes[0]
	if want := "its last warning is Throttled: too many requests"; !strings.HasPrefix(dead.Evidence[2], want) {
		t.Errorf("the warnings begin with %q, want %q", dead.Evidence[2], want)
	}
	wantEvidence(
		t, dead, "another warning is DeleteFailed: AuthFailure: the credentials are not valid (7 times, 60 min ago)")
}

// TestWhatAnObjectSaysOfItsDeletionIsTheCause: of an actor that lives, the sentence and the remedy
// are about the condition that has changed since the deletion, and nobody is told to wait.
func TestWhatAnObjectSaysOfItsDeletionIsTheCause(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Lease(ns, "leader", "me", time.Now()))
	const status = `{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":%q,
		"message":"cannot delete bucket logs: it has objects"}]}`
	heldDeployment(t, c, ns, "since", "example.com/x", fmt.Sprintf(status, "2126-01-01T00:00:00Z"))
	heldDeployment(t, c, ns, "before", "example.com/x", fmt.Sprintf(status, "2026-01-01T00:00:00Z"))
	d := examine(t, c.Config(), Options{Known: fixture.Pack(t, "example.com/x",
		fmt.Sprintf("leases: ['%s/leader']", ns))}, ns)
	cause := stuckOf(t, d, "since").Causes[0]
	want := "Condition Ready of the object says, since the deletion: cannot delete bucket logs: it has objects."
	if cause.Summary != want {
		t.Errorf("the cause is %q, want %q", cause.Summary, want)
	}
	if want := "See to what condition Ready says: "; !strings.HasPrefix(cause.Remedy, want) {
		t.Errorf("the remedy is %q, want %q", cause.Remedy, want)
	}
	if before := stuckOf(t, d, "before").Causes[0]; !strings.Contains(before.Remedy, "let it finish") {
		t.Errorf("by what was said before the deletion, the remedy is %q", before.Remedy)
	}
}
