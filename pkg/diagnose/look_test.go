package diagnose

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// heldMany makes ConfigMaps with the finalizer example.com/held, deletes them and returns their
// names.
func heldMany(t testing.TB, c *testcluster.Cluster, namespace string, n int) []string {
	t.Helper()
	var manifest strings.Builder
	var names []string
	for i := range n {
		name := fmt.Sprintf("held-%02d", i)
		names = append(names, name)
		manifest.WriteString(fixture.ConfigMap(namespace, name, "example.com/held"))
		fixture.Free(t, c, namespace, "configmap/"+name)
	}
	c.Apply(t, manifest.String())
	deleted(t, c, append([]string{"configmap", "-n", namespace}, names...)...)
	return names
}

// TestEvidenceOfEachObjectIsItsOwn: two objects of one type with the same finalizer wait for
// different things, and each says which.
func TestEvidenceOfEachObjectIsItsOwn(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	for _, name := range []string{"budget", "volume"} {
		c.Apply(t, strings.Replace(fixture.Deployment(ns, name, 1), "metadata: {",
			"metadata: {finalizers: [example.com/held], ", 1))
		fixture.Free(t, c, ns, "deployment/"+name)
		c.Kubectl(t, "patch", "deployment", name, "-n", ns, "--subresource=status", "--type=merge", "-p",
			fmt.Sprintf(
				`{"status":{"conditions":[{"type":"Available","status":"False","reason":"Waits","message":"it waits for a %s"}]}}`, name))
	}
	deleted(t, c, "deployment", "budget", "volume", "-n", ns)
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	for name, other := range map[string]string{"budget": "volume", "volume": "budget"} {
		cause := stuckOf(t, d, name).Causes[0]
		wantEvidence(t, cause, "it waits for a "+name)
		if strings.Contains(fmt.Sprint(cause.Evidence), "it waits for a "+other) {
			t.Errorf("%s is told what was seen at %s: %q", name, other, cause.Evidence)
		}
	}
}

// TestOneOfTwoObjectsIsNotValid, and the other is: each is tried.
func TestOneOfTwoObjectsIsNotValid(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	heldMany(t, c, ns, 2)
	deny(t, c, ns, "UPDATE", "object.metadata.name != 'held-01'")
	testcluster.Eventually(t, "the policy is enforced", func(ctx context.Context) (bool, error) {
		return fails(c, "patch", "configmap", "held-01", "--type=merge", "-p", `{"metadata":{"labels":{"try":"me"}}}`,
			"--dry-run=server", "-n", ns)(ctx), nil
	})
	wantCauses(t, examine(t, c.Config(), Options{Known: operator}, ns), map[string][]string{
		"ConfigMap/held-00": {"FinalizerActorAlive ConfigMap/held-00"},
		"ConfigMap/held-01": {"AdmissionDenied ValidatingAdmissionPolicy/" + ns},
	})
}

// TestOneOfTwoDependentsCannotBeDeleted: an owner waits for both, and only the second is protected.
func TestOneOfTwoDependentsCannotBeDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "root"))
	owned(t, c, ns, "a", "root", true)
	owned(t, c, ns, "b", "root", true)
	fixture.Free(t, c, ns, "configmap/root")
	deleted(t, c, "configmap", "root", "-n", ns, "--cascade=foreground")
	client := answering(t, func(request map[string]any) (string, []map[string]any) {
		if request["name"] == "b" {
			return "b is in use", nil
		}
		return "", nil
	})
	registered(t, c, "validating", ns, webhook("Validating", ns, "DELETE", client),
		fails(c, "delete", "configmap", "b", "-n", ns, "--dry-run=server"))
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {"AdmissionDenied ValidatingWebhookConfiguration/" + ns,
		"CollectorNotActing ConfigMap/a"}})
}

// TestObjectsBeyondTheBoundAreCounted: they are told what was found at another, by name.
func TestObjectsBeyondTheBoundAreCounted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	heldMany(t, c, ns, 5)
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{Known: operator, limits: core.Limits{Looks: 3}}, ns)
	if d.NotLookedAt != 2 {
		t.Errorf("%d objects were not looked at, want 2", d.NotLookedAt)
	}
	for i, s := range d.Stuck {
		if want := i >= 3; s.Sampled != want {
			t.Errorf("%s is sampled: %t, want %t", s.Object.Name, s.Sampled, want)
		}
		if s.Sampled {
			wantEvidence(t, s.Causes[0], "like ConfigMap "+ns+"/held-00, which was examined")
		}
		if s.Causes[0].Object.Name != s.Object.Name {
			t.Errorf("the cause of %s lies in %s", s.Object.Name, s.Causes[0].Object.Name)
		}
	}
	if n := proxy.Count(http.MethodPatch, ""); n != 3 {
		t.Errorf("%d objects were tried, want 3", n)
	}
}

// TestFinalizersBeyondTheBoundAreCounted: anybody who may write an object can add thousands.
func TestFinalizersBeyondTheBoundAreCounted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	names := make([]string, 5)
	for i := range names {
		names[i] = fmt.Sprintf("f%d.example.com/hold", i)
	}
	c.Apply(t, fixture.ConfigMap(ns, "held", names...))
	fixture.Free(t, c, ns, "configmap/held")
	deleted(t, c, "configmap", "held", "-n", ns)
	d := examine(t, c.Config(), Options{limits: core.Limits{Finalizers: 3}}, ns, subject{"configmaps/held", ns})
	if len(d.Stuck) != 1 || len(d.Stuck[0].Causes) != 4 {
		t.Fatalf("got %+v", d.Stuck)
	}
	last := d.Stuck[0].Causes[3]
	if last.Code != string(core.FinalizerActorUnknown) || last.Finalizer != names[3] {
		t.Errorf("got %+v", last)
	}
	wantEvidence(t, last, "it and 1 more finalizers of the object were not examined")
}

// TestNoFinalizerIsExaminedAfterTheContextHasEnded: whoever interrupts why need not wait for a
// hundred.
func TestNoFinalizerIsExaminedAfterTheContextHasEnded(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "a.example.com/hold", "b.example.com/hold"))
	fixture.Free(t, c, ns, "configmap/held")
	listed := fixture.List(t, c.Config(), cluster.ListOptions{Namespace: ns})
	e := newExaminer(listed.Client, core.Snapshot{Catalog: listed.Catalog, Graph: listed.Graph, Gaps: listed.Gaps},
		Options{Known: fixture.Packs(t)})
	id := listed.Find(t, "", "configmaps", ns, "held")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := e.Object(ctx, id); err != nil {
		t.Fatal(err)
	}
	cancel()
	if found := e.lookAt(ctx, id); len(found) != 0 {
		t.Errorf("%d finalizers were examined", len(found))
	}
}

// TestManyObjectsAreReadByAList where that is cheaper than a request for each.
func TestManyObjectsAreReadByAList(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	var manifest strings.Builder
	for i := range 12 {
		name := fmt.Sprintf("d%02d", i)
		manifest.WriteString(strings.Replace(fixture.Deployment(ns, name, 0), "metadata: {",
			"metadata: {finalizers: [example.com/held], ", 1))
		fixture.Free(t, c, ns, "deployment/"+name)
	}
	c.Apply(t, manifest.String())
	deleted(t, c, "deployments", "-n", ns, "d00", "d01", "d02", "d03", "d04", "d05", "d06", "d07", "d08", "d09",
		"d10", "d11")
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{Known: operator}, ns)
	if len(d.Stuck) != 12 {
		t.Errorf("%d are stuck, want 12", len(d.Stuck))
	}
	if n := proxy.Count(http.MethodGet, "/deployments/"); n > 1 {
		t.Errorf("%d of 12 objects were read one by one", n)
	}
}

// TestProgressIsTold while objects are looked at.
func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	heldMany(t, c, ns, 3)
	var told []string
	examine(t, c.Config(), Options{Known: operator, Progress: func(done, total int, what string) {
		told = append(told, fmt.Sprintf("%d of %d %s", done, total, what))
	}}, ns)
	if want := "1 of 3 objects, 2 of 3 objects, 3 of 3 objects"; strings.Join(told, ", ") != want {
		t.Errorf("told %q, want %s", told, want)
	}
}

// TestForbiddenReadIsAskedOnce: what the user may not read of a type in a namespace is one request
// and one clause.
func TestForbiddenReadIsAskedOnce(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	heldMany(t, c, ns, 8)
	permitted(t, c, ns, "list,watch", "*.*")
	until(t, c, "yes", "auth", "can-i", "list", "configmaps", "-n", ns, "--as="+ns)
	proxy := faultproxy.Start(t, c.Config())
	config := proxy.Config()
	config.Impersonate.UserName = ns
	d := examine(t, config, Options{Known: operator}, ns)
	var said []v1alpha1.Cause
	for _, s := range d.Stuck {
		said = append(said, s.Causes[0])
		wantEvidence(t, s.Causes[0], fmt.Sprintf("the object cannot be read: you may not get configmaps in namespace %q", ns))
	}
	if len(said) != 8 || len(d.Gaps) != 1 {
		t.Errorf("%d objects and %d gaps, want 8 and 1", len(said), len(d.Gaps))
	}
	if n := proxy.Count(http.MethodGet, "/configmaps/"); n != 1 {
		t.Errorf("the server was asked %d times for what may not be read, want 1", n)
	}
}

// TestWhatIsWaitedForIsLookedAtSideBySide: the content of a namespace that has to be gone first, of
// which only a pack tells.
func TestWhatIsWaitedForIsLookedAtSideBySide(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, space := c.Namespace(t), c.Namespace(t)
	manifests, names := fixture.ConfigMap(ns, "member", "example.com/member"), []string{"configmap", "-n", space}
	fixture.Free(t, c, ns, "configmap/member")
	for i := range core.MaxByName + 5 {
		name := fmt.Sprintf("work-%02d", i)
		manifests += fixture.ConfigMap(space, name, "example.com/work")
		fixture.Free(t, c, space, "configmap/"+name)
		names = append(names, name)
	}
	c.Apply(t, manifests)
	deleted(t, c, names...)
	deleted(t, c, "configmap", "member", "-n", ns)
	c.Kubectl(t, "delete", "namespace", space, "--wait=false")
	known, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(`title: Test
components: {Test operator: {leases: [none/none]}}
finalizers:
- {id: test, exact: example.com/member, kinds: ['*'], component: Test operator, does: deletes the works, ifRemoved: works stay, risk: leaks-external,
   polarity: cleanup, verified: source, source: 'https://example.com',
   heldBy: [{untilGone: [{kind: Namespace, name: ` + space + `, scope: cluster}], waits: 'waits until {held} is gone', remedy: 'See what keeps it.'}]}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	proxy := faultproxy.Start(t, c.Config())
	listed := fixture.List(t, proxy.Config(), cluster.ListOptions{})
	d, err := Examine(t.Context(), listed.Client, core.Snapshot{Catalog: listed.Catalog, Graph: listed.Graph},
		Subjects{Observed: []graph.ID{listed.Find(t, "", "configmaps", ns, "member")}}, Options{Known: known})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.Stuck[0].Causes, func(c v1alpha1.Cause) bool { return c.Finalizer == "example.com/work" }) {
		t.Errorf("what keeps the namespace is not said: %+v", d.Stuck[0].Causes)
	}
	if read := proxy.Count("GET", "/namespaces/"+space+"/events"); read > 1 {
		t.Errorf("events were read %d times", read)
	}
}
