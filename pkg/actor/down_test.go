package actor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhyAWorkloadIsDown: what its pods say, and where it has none, what the server said to making
// them.
func TestWhyAWorkloadIsDown(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	pod := func(status string) func(*testing.T, string) {
		return func(t *testing.T, ns string) {
			c.Apply(t, fmt.Sprintf(
				"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: %[1]s}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: op-1, namespace: %[1]s, labels: {app: op}}\nspec: {containers: [{name: c, image: example.com/c}]}\n", ns))
			c.Kubectl(t, "patch", "pod", "op-1", "-n", ns, "--subresource=status", "--type=merge", "-p", `{"status":`+status+`}`)
		}
	}
	container := func(state string) string {
		return `{"containerStatuses":[{"name":"c","image":"example.com/c:v1","imageID":"","ready":false,"restartCount":7,` +
			state + `}]}`
	}
	failure := func(message string) func(*testing.T, string) {
		return func(t *testing.T, ns string) {
			c.Kubectl(t, "patch", "deployment", "op", "-n", ns, "--subresource=status", "--type=merge", "-p",
				fmt.Sprintf(
					`{"status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":%q}]}}`,
					strings.ReplaceAll(message, "NS", ns)))
		}
	}
	for _, test := range []struct {
		name         string
		make         func(*testing.T, string)
		says, repair string // NS is the namespace
	}{
		{"out of memory", pod(
			container(`"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s"}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}`)),
			"container c of Pod NS/op-1 has ended 7 times, last: OOMKilled, exit code 137",
			"raise its memory limit: it is killed for lack of memory"},
		{"crash", pod(
			container(`"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","message":"no such flag"}}`)),
			"last: Error, exit code 1: no such flag", "find out from its log why it ends"},
		{"crash, between two starts", pod(
			container(`"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}},"lastState":{"terminated":{"exitCode":2,"reason":"Error"}}`)),
			"has ended 7 times, last: Error, exit code 2", "find out from its log why it ends"},
		{"image", pod(container(`"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image"}}`)),
			"container c of Pod NS/op-1 cannot get its image example.com/c:v1: ImagePullBackOff: Back-off pulling image",
			"make image example.com/c:v1 available"},
		{"configuration", pod(
			container(`"state":{"waiting":{"reason":"CreateContainerConfigError","message":"secret \"db\" not found"}}`)),
			`cannot be started: CreateContainerConfigError: secret "db" not found`, "repair what the message names"},
		{"failed", pod(
			`{"phase":"Failed","containerStatuses":[{"name":"a","image":"","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},` +
				`{"name":"b","image":"","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":4,"reason":"Error"}}}]}`),
			"container b of Pod NS/op-1 has ended: Error, exit code 4", "find out from its log"},
		{"evicted", pod(`{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}`),
			"Pod NS/op-1 has failed: Evicted The node was low on resource: memory.", "find out why its pod failed"},
		{"init container", pod(
			`{"initContainerStatuses":[{"name":"i","image":"","imageID":"","ready":false,"restartCount":1,"state":{"terminated":{"exitCode":3,"reason":"Error"}}}]}`),
			"container i of Pod NS/op-1 has ended: Error, exit code 3", "find out from its log"},
		{"not scheduled", pod(
			`{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available"}]}`),
			"Pod NS/op-1 is not scheduled: 0/3 nodes are available", "make room for its pod"},
		{"readiness", pod(
			`{"phase":"Running","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"containers with unready status: [c]","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`),
			"containers with unready status: [c]", "find out why its readiness probe fails"},
		{"evicted", pod(`{"phase":"Failed","reason":"Evicted","message":"The node was low on resource"}`),
			"Pod NS/op-1 has failed: Evicted The node was low on resource", "find out why its pod failed"},
		{"quota", failure(
			`pods "op-1" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1`),
			"Deployment NS/op cannot make pods: pods \"op-1\" is forbidden: exceeded quota",
			"raise the ResourceQuota of namespace NS"},
		{"its own webhook", failure(
			`Internal error occurred: failed calling webhook "mpod.example.com": failed to call webhook: Post "https://op-webhook.NS.svc:443/mutate?timeout=10s": no endpoints available for service "op-webhook"`),
			"cannot make pods: Internal error occurred",
			"webhook mpod.example.com, which it may serve itself in the same namespace, keeps its own pods from being made"},
		{"a webhook", failure(
			`Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/validate": dial tcp`),
			"cannot make pods", "repair what answers it, or exempt namespace NS from it"},
		{"account", failure(`pods "op-" is forbidden: error looking up service account NS/op: serviceaccount "op" not found`),
			"serviceaccount", "make its ServiceAccount again: NS/default is gone"},
		{"nothing", func(*testing.T, string) {}, "Deployment NS/op has no pods, and does not say why",
			"find out why kube-controller-manager makes no pods of Deployment NS/op"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, fixture.Deployment(ns, "op", 1))
			test.make(t, ns)
			f := finderOf(t, c.Config(), fixture.Packs(t))
			faults, unread := f.Faults(t.Context(), workload(t, f, ns, "op"))
			if len(faults) != 1 || len(unread) > 0 {
				t.Fatalf("%+v, %q unread; want one", faults, unread)
			}
			for got, want := range map[string]string{faults[0].Says: test.says, faults[0].Repair: test.repair} {
				if want = strings.ReplaceAll(want, "NS", ns); !strings.Contains(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}

// TestWhatWasMadeSecondsAgoMayHavePodsYet: it is starting for a minute. A Job that another controller
// manages may have its pods in another cluster, and is no fault.
func TestWhatWasMadeSecondsAgoMayHavePodsYet(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	const job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: %s, namespace: %s}\nspec: {%stemplate: {spec: " +
		"{restartPolicy: Never, containers: [{name: c, image: example.com/c}]}}}\n"
	c.Apply(t, fixture.Deployment(ns, "op", 1)+fmt.Sprintf(job, "own", ns, "managedBy: kubernetes.io/job-controller, ")+
		fmt.Sprintf(job, "other", ns, "managedBy: kueue.x-k8s.io/multikueue, "))
	f := finderOf(t, c.Config(), fixture.Packs(t))
	start := time.Now()
	for after, starting := range map[time.Duration]bool{0: true, 2 * time.Minute: false} {
		f.now = func() time.Time { return start.Add(after) }
		for _, w := range []schema.GroupResource{{Group: "apps", Resource: "deployments"}, {Group: "batch", Resource: "jobs"}} {
			all, err := f.reader.ListObjects(t.Context(), w, ns, cluster.Selection{})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range all {
				faults, _ := f.Faults(t.Context(), o)
				if o.GetName() == "other" && len(faults) > 0 ||
					o.GetName() != "other" && (len(faults) != 1 || faults[0].Starting != starting) {
					t.Errorf("%s after %s: %+v", o.GetName(), after, faults)
				}
			}
		}
	}
}

// TestWorkloadThatIsScaledToZeroHasNoFault: and what may not be listed is said.
func TestWorkloadThatIsScaledToZeroHasNoFault(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Deployment(ns, "zero", 0)+fixture.Deployment(ns, "op", 1))
	f := finderOf(t, c.Config(), fixture.Packs(t))
	if faults, unread := f.Faults(t.Context(), workload(t, f, ns, "zero")); len(faults)+len(unread) > 0 {
		t.Errorf("%+v, %q unread", faults, unread)
	}
	o := workload(t, f, ns, "op")
	faults, unread := finderOf(t, c.As("nobody"), fixture.Packs(t)).Faults(t.Context(), o)
	if len(faults) > 0 || len(unread) == 0 || unread[0] != "you may not list pods in "+ns {
		t.Errorf("%+v, %q unread", faults, unread)
	}
}

// TestPodsOfAWorkloadThatSelectsByExpressionsAreFound, but for those that are being deleted.
func TestPodsOfAWorkloadThatSelectsByExpressionsAreFound(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, strings.Replace(fixture.Deployment(ns, "op", 1), "{matchLabels: {app: op}}",
		"{matchExpressions: [{key: app, operator: In, values: [op]}]}", 1))
	for _, name := range []string{"op-1", "op-2"} {
		c.Apply(t, fmt.Sprintf(
			"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: %[1]s}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: %[2]s, namespace: %[1]s, labels: {app: op}, finalizers: [example.com/x]}\nspec: {containers: [{name: c, image: example.com/c}]}\n", ns, name))
		setStatus(t, c, "pod", ns, name, `{"phase":"Failed","reason":"Evicted","message":"it was `+name+`"}`)
	}
	fixture.Free(t, c, ns, "pod/op-1", "pod/op-2")
	c.Kubectl(t, "delete", "pod", "op-1", "-n", ns, "--wait=false")
	f := finderOf(t, c.Config(), fixture.Packs(t))
	faults, unread := f.Faults(t.Context(), workload(t, f, ns, "op"))
	if len(faults) != 1 || len(unread) > 0 || faults[0].Says != "Pod "+ns+"/op-2 has failed: Evicted it was op-2" {
		t.Errorf("%+v, %q unread; want that of the pod that stays", faults, unread)
	}
}
