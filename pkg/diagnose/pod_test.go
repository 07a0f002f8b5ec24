package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/workloads"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// podOn writes a pod on a node, with more of its spec.
func podOn(namespace, name, node, more string, finalizers ...string) string {
	return fmt.Sprintf(
		"---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s, finalizers: [%s]}\nspec: {nodeName: %s, containers: [{name: c, image: example.com/c}]%s}\n",
		name, namespace, strings.Join(finalizers, ", "), node, more)
}

// nodeThat makes a node whose condition Ready has a status; it goes with the test. The node's name
// is the namespace's.
func nodeThat(t testing.TB, c *testcluster.Cluster, name, ready string) {
	t.Helper()
	c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n", name))
	t.Cleanup(func() { c.Kubectl(t, "delete", "node", name, "--ignore-not-found") })
	c.Kubectl(t, "patch", "node", name, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
		`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Test","message":"the kubelet says so","lastTransitionTime":%q}]}}`, ready, time.Now().Add(-3*time.Hour).UTC().Format(time.RFC3339)))
}

// graceOver deletes a pod and waits until its grace period is over.
func graceOver(t testing.TB, c *testcluster.Cluster, namespace, pod string) {
	t.Helper()
	deleted(t, c, "pod", pod, "-n", namespace, "--grace-period=1")
	at, err := time.Parse(time.RFC3339,
		c.Kubectl(t, "get", "pod", pod, "-n", namespace, "-o", "jsonpath={.metadata.deletionTimestamp}"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(at) + 100*time.Millisecond) // the end of a period is nothing that can be watched
}

// TestPodOnANode: gone, not ready in each of the ways that there are, ready, and with time left.
// The cause is the node where it is to blame.
func TestPodOnANode(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for _, test := range []struct {
		name, ready, want string // %s is the namespace, which is also the node's name
		make              func(t *testing.T, ns string)
		evidence          string
		grace             int
	}{
		{name: "gone", want: "NodeGone Node/%s", evidence: "Node %s does not exist"},
		{name: "gone, with a day to go", want: "NodeGone Node/%s", grace: 86400,
			evidence: "h, and nobody is there to end the pod then"},
		{name: "unknown", ready: "Unknown", want: "NodeNotReady Node/%s",
			evidence: "condition Ready of Node %s is Unknown for 3 h: the kubelet says so"},
		{name: "not ready", ready: "False", want: "NodeNotReady Node/%s", evidence: "is False for 3 h"},
		{name: "unreachable", ready: "True", want: "NodeNotReady Node/%s",
			evidence: "has the taint node.kubernetes.io/unreachable", make: func(t *testing.T, ns string) {
				c.Kubectl(t, "taint", "node", ns, "node.kubernetes.io/unreachable=:NoExecute")
			}},
		{name: "silent", ready: "Unknown", want: "NodeNotReady Node/%s",
			evidence: "Lease kube-node-lease/%s was renewed last 3 h ago", make: func(t *testing.T, ns string) {
				c.Apply(t, fixture.Lease("kube-node-lease", ns, ns, time.Now().Add(-3*time.Hour)))
			}},
		{name: "ready", ready: "True", want: "PodNotKilled Pod/pod", evidence: "Node %s is ready"},
		{name: "says", ready: "True", want: "PodNotKilled Pod/pod",
			evidence: "its last warning is FailedKillPod: the network plugin does not answer",
			make: func(t *testing.T, ns string) {
				uid := c.Kubectl(t, "get", "pod", "pod", "-n", ns, "-o", "jsonpath={.metadata.uid}")
				c.Apply(t, fmt.Sprintf(
					"apiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: %[1]s}\ntype: Warning\nreason: FailedKillPod\nmessage: the network plugin does not answer\ninvolvedObject: {kind: Pod, namespace: %[1]s, name: pod, uid: %[2]s}\n", ns, uid))
			}},
		{name: "running", ready: "True", want: "PodNotKilled Pod/pod", evidence: "container c is running",
			make: func(t *testing.T, ns string) {
				c.Kubectl(t, "patch", "pod", "pod", "-n", ns, "--subresource=status", "--type=merge", "-p",
					`{"status":{"phase":"Running","containerStatuses":[{"name":"c","image":"i","imageID":"i","ready":true,"restartCount":0,"state":{"running":{}}}]}}`)
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			if test.ready != "" {
				nodeThat(t, c, ns, test.ready)
			}
			c.Apply(t, podOn(ns, "pod", ns, ""))
			if test.make != nil {
				test.make(t, ns)
			}
			if test.grace > 0 {
				deleted(t, c, "pod", "pod", "-n", ns, fmt.Sprintf("--grace-period=%d", test.grace))
			} else {
				graceOver(t, c, ns, "pod")
			}
			d := examine(t, c.Config(), Options{}, ns, subject{"pods/pod", ns})
			wantCauses(t, d, map[string][]string{"Pod/pod": {strings.ReplaceAll(test.want, "%s", ns)}})
			cause := d.Stuck[0].Causes[0]
			wantEvidence(t, cause, strings.ReplaceAll(test.evidence, "%s", ns))
			if cause.Code == string(core.NodeNotReady) {
				typed(t, c, cause.Commands[1])
				if got := c.Kubectl(t, "get", "node", ns, "-o", "jsonpath={.spec.taints}"); !strings.Contains(got,
					"out-of-service") {
					t.Errorf("after %s the node has the taints %s", cause.Commands[1], got)
				}
			}
			typed(t, c, last(cause))
			gone(t, c, "pod", "pod", "-n", ns)
		})
	}
}

// TestPodsOfANamespaceOnOneNode: the node is one cause of the namespace, with a command for each of
// its pods.
func TestPodsOfANamespaceOnOneNode(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, podOn(ns, "a", ns, "")+podOn(ns, "b", ns, ""))
	deleted(t, c, "namespace", ns)
	deleted(t, c, "pod", "a", "-n", ns, "--grace-period=1")
	graceOver(t, c, ns, "b")
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + ns: {"NodeGone Node/" + ns}})
	for _, command := range d.Stuck[0].Causes[0].Commands {
		typed(t, c, command)
	}
	gone(t, c, "pods", "-n", ns)
}

// TestStatefulSet: that another pod of the same name is started is said where forced deletion is
// offered.
func TestStatefulSet(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, strings.Replace(podOn(ns, "db-0", ns, ""), "metadata: {",
		"metadata: {ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: 00000000-0000-0000-0000-00000000000b, controller: true}], ", 1))
	graceOver(t, c, ns, "db-0")
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{"Pod/db-0": {"NodeGone Node/" + ns}})
	if remedy := d.Stuck[0].Causes[0].Remedy; !strings.Contains(remedy,
		"StatefulSet db then starts another pod of the same name") {
		t.Errorf("the remedy does not warn: %s", remedy)
	}
	typed(t, c, last(d.Stuck[0].Causes[0]))
}

// TestPodInItsGracePeriod_API018: it is not stuck yet, and the printed command waits until the
// kubelet is done with it.
func TestPodInItsGracePeriod_API018(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	nodeThat(t, c, ns, "True")
	c.Apply(t, podOn(ns, "pod", ns, ""))
	deleted(t, c, "pod", "pod", "-n", ns, "--grace-period=300")
	d := examine(t, c.Config(), Options{}, ns, subject{"pods/pod", ns})
	wantCauses(t, d, map[string][]string{"Pod/pod": {"PodTerminating Pod/pod"}})
	wantEvidence(t, d.Stuck[0].Causes[0], "its grace period is over in 2")
	waiting := d.Stuck[0].Causes[0].Commands[0]
	deleted(t, c, strings.Fields(last(d.Stuck[0].Causes[0]))[2:]...)
	if got := c.Kubectl(t, "get", "pod", "pod", "-n", ns, "-o",
		"jsonpath={.metadata.deletionGracePeriodSeconds}"); got != "1" {
		t.Errorf("after %s the grace period is %s s", last(d.Stuck[0].Causes[0]), got)
	}
	kubelet := c.Command(t.Context(), "delete", "pod", "pod", "-n", ns, "--grace-period=0", "--force", "--wait=false")
	if err := kubelet.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kubelet.Wait() }()
	typed(t, c, waiting)
}

// TestPodThatAJobTracks: only the finalizer holds it, as the kubelet is done with it. Without its
// Job there is nothing to lose.
func TestPodThatAJobTracks(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: job, namespace: %s}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: example.com/c}]}}}\n", ns))
	uid := c.Kubectl(t, "get", "job", "job", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	pod := func(name, uid string) {
		reference := fmt.Sprintf(
			"metadata: {ownerReferences: [{apiVersion: batch/v1, kind: Job, name: job, uid: %s, controller: true}], ", uid)
		c.Apply(t, strings.Replace(podOn(ns, name, "", "", workloads.JobFinalizer), "metadata: {", reference, 1))
	}
	pod("of-a-job", uid)
	pod("of-none", "00000000-0000-0000-0000-00000000000a")
	c.Apply(t, podOn(ns, "ended", ns, "", workloads.JobFinalizer))
	fixture.Free(t, c, ns, "pod/of-a-job", "pod/of-none", "pod/ended")
	deleted(t, c, "pod", "of-a-job", "of-none", "-n", ns)
	deleted(t, c, "pod", "ended", "-n", ns, "--force", "--grace-period=0") // as its kubelet does
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{
		"Pod/of-a-job": {"FinalizerActorUnknown Pod/of-a-job"},
		"Pod/of-none":  {"FinalizerActorUnknown Pod/of-none"},
		"Pod/ended":    {"FinalizerActorUnknown Pod/ended"}, // and not its node, which does not exist
	})
	kept, lost := stuckOf(t, d, "of-a-job").Causes[0], stuckOf(t, d, "of-none").Causes[0]
	wantEvidence(t, kept, "Job job, which counts it, still exists")
	wantEvidence(t, lost, "Job job, which was to count it, no longer exists")
	if safe := "nothing is lost by removing it"; strings.Contains(kept.Remedy, safe) ||
		!strings.Contains(lost.Remedy, safe) {
		t.Errorf("with its Job: %s\nwithout: %s", kept.Remedy, lost.Remedy)
	}
}

// TestPodWhoseContainersHaveEnded waits for a grace period that nobody needs, and that is said.
func TestPodWhoseContainersHaveEnded(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	nodeThat(t, c, ns, "True")
	c.Apply(t, podOn(ns, "pod", ns, "")+podOn(ns, "running", ns, ""))
	for name, state := range map[string]string{"pod": `{"terminated":{"exitCode":0}}`, "running": `{"running":{}}`} {
		c.Kubectl(t, "patch", "pod", name, "-n", ns, "--subresource=status", "--type=merge", "-p",
			`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"i","ready":false,"restartCount":0,"state":`+
				state+`}]}}`)
	}
	deleted(t, c, "pod", "pod", "running", "-n", ns, "--grace-period=300")
	d := examine(t, c.Config(), Options{}, ns, subject{"pods/pod", ns}, subject{"pods/running", ns})
	wantEvidence(t, stuckOf(t, d, "pod").Causes[0], "all its containers have ended")
	if said := strings.Join(stuckOf(t, d, "running").Causes[0].Evidence, "; "); strings.Contains(said, "have ended") {
		t.Errorf("of one that runs it is said that %s", said)
	}
	c.Kubectl(t, "delete", "pods", "--all", "-n", ns, "--force", "--grace-period=0")
}
