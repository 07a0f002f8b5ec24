package dumps

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// shop is a deployment as its controllers make it, an object that is stuck, and one whose owner is
// gone.
const shop = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: key}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/hold]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: late, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: 11111111-0000-4000-8000-00000000000a}]}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.dump.example.com}
spec: {group: dump.example.com, scope: Namespaced, names: {plural: gadgets, kind: Gadget},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}
`

// owned are what has an owner of shop, by its uid.
const owned = `
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: WEB, controller: true, blockOwnerDeletion: true}]},
  spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, ownerReferences: [{apiVersion: v1, kind: Secret, name: key, uid: KEY}, {apiVersion: apps/v1, kind: Deployment, name: web, uid: WEB}]}}
`

// TestADumpIsTheCluster: where nothing is missing, each command says of a dump what it says of the
// cluster; what is missing is a gap, and an owner of a type that is missing is unknown.
//
// It needs a control plane of its own, since all types are saved, and asks some forty commands twice.
func TestADumpIsTheCluster(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	builtInTypes(t, c)
	const ns = "shop"
	c.Kubectl(t, "create", "namespace", ns)
	c.Apply(t, shop, "-n", ns)
	uid := func(of string) string { return c.Kubectl(t, "get", of, "-n", ns, "-o", "jsonpath={.metadata.uid}") }
	c.Apply(t, strings.NewReplacer("WEB", uid("deployment/web"), "KEY", uid("secret/key")).Replace(owned), "-n", ns)
	c.Apply(t, `{apiVersion: dump.example.com/v1, kind: Gadget, metadata: {name: g, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: `+
		uid("deployment/web")+`}]}}`, "-n", ns)
	c.Kubectl(t, "delete", "configmap/held", "-n", ns, "--wait=false")

	whole := c.Dump(t)
	live, saved := []string{"--kubeconfig", c.Kubeconfig()}, []string{"--from", whole}
	for _, command := range [][]string{
		{"tree", "-n", ns}, {"tree", "deployment/web", "-n", ns, "--owners=false"}, {"check", "-n", ns},
		{"delete", "deployment/web", "-n", ns, "--dry-run=client", "--cascade=foreground"},
		{"delete", "secret/key", "-n", ns, "--dry-run=client"}, {"run", "-n", ns, "--dry-run=client"},
	} {
		want, got := object(t, command, live), object(t, command, saved)
		if diff := cmp.Diff(want, got); diff != "" || want["complete"] != true {
			t.Errorf("kubectl gc %v: of the cluster - and of the dump +\n%s", command, diff)
		}
	}
	why := []string{"why", "configmap/held", "-n", ns, "--no-dry-run"}
	if want, got := codes(t, why, live), codes(t, why, saved); !slices.Equal(want, got) || len(want) == 0 {
		t.Errorf("kubectl gc %v: %v of the cluster, and %v of the dump", why, want, got)
	}
	if _, out, _ := script.InProcess(t.Context(), "", slices.Concat(why, []string{"-o", "jsonpath={.gaps[*].resource}"}, saved)...); out !=
		"admissionreviews" {
		t.Errorf("kubectl gc %v: the gaps of the dump are %q", why, out)
	}

	asTheServerPrints(t, c)
	ofASnapshot(t, c, ns)
	underFaults(t, c, ns)
	onlyHere(t, c, ns)
	refreshed(t, c)

	if err := os.Remove(filepath.Join(whole, "cluster-scoped-resources", "core", "secrets.json")); err != nil {
		t.Fatal(err)
	}
	missing(t, whole, ns, "a folder of oc adm inspect", "secrets")
	for _, command := range [][]string{{"delete", "deployment/web", "-n", ns, "--dry-run=client"}, {"run", "-n", ns, "--dry-run=client"}} {
		if got := object(t, command, saved); got["complete"] == true {
			t.Errorf("kubectl gc %v is taken for complete without the Secrets", command)
		}
	}

	randomPlans(t, c)

	file := filepath.Join(t.TempDir(), "get.yaml")
	got := c.Kubectl(t, "get", "configmaps,deployments,replicasets,gadgets", "-n", ns, "-o", "yaml")
	if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
		t.Fatal(err)
	}
	missing(t, file, ns, "what kubectl get wrote", "secrets")
	folder := t.TempDir()
	c.Kubectl(t, "cluster-info", "dump", "--output-directory", folder, "--namespaces", ns)
	missing(t, folder, ns, "what kubectl cluster-info dump wrote", "configmaps")
	if code, _, stderr := script.InProcess(t.Context(), "", "tree", "-n", ns, "--from", folder); code != 0 ||
		!strings.Contains(stderr, "(kubectl cluster-info dump, ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// randomPlans makes random clusters, and compares plans to delete some of their objects, and those of
// the collector, with plans that are made of a dump.
func randomPlans(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	world := randomcluster.New(t, c)
	var commands [][]string
	for i := range randomcluster.Few() {
		ns, rng := fmt.Sprintf("random-%d", i), rand.New(rand.NewPCG(uint64(i), 0))
		if err := world.CreateWild(t.Context(), ns, rng); err != nil {
			t.Fatal(err)
		}
		g, err := world.List(t.Context(), ns)
		if err != nil {
			t.Fatal(err)
		}
		commands = append(commands, []string{"run", "-n", ns, "--dry-run=client"}, []string{"tree", "-n", ns})
		for _, id := range randomcluster.Roots(g, ns, rng.IntN) {
			ref := g.Ref(id)
			of := ref.Resource + "." + ref.Group() + "/" + ref.Name
			policy := []string{"background", "foreground", "orphan"}[rng.IntN(3)]
			commands = append(commands, []string{"delete", strings.Replace(of, "./", "/", 1), "-n", ns, "--dry-run=client",
				"--cascade=" + policy})
		}
	}
	live, saved := []string{"--kubeconfig", c.Kubeconfig()}, []string{"--from", c.Dump(t)}
	snapshot := []string{"--from", takeSnapshot(t, c)}
	for _, command := range commands {
		want := object(t, command, live)
		if diff := cmp.Diff(want, object(t, command, saved)); diff != "" {
			t.Errorf("kubectl gc %v: of the cluster - and of the dump +\n%s", command, diff)
		}
		if diff := cmp.Diff(want, object(t, command, snapshot)); diff != "" {
			t.Errorf("kubectl gc %v: of the cluster - and of the snapshot +\n%s", command, diff)
		}
	}
}

// takeSnapshot saves a cluster, and more types whole.
func takeSnapshot(t *testing.T, c *testcluster.Cluster, more ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cluster.snapshot")
	code, out, stderr := script.InProcess(t.Context(), "", slices.Concat([]string{"snapshot", file, "--kubeconfig", c.Kubeconfig()}, more)...)
	if code != 0 || stderr != "" || !strings.HasPrefix(out, "saved ") {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	return file
}

// ofASnapshot compares what commands say of the cluster with what they say of a snapshot, which has
// no data of Secrets and ConfigMaps unless it is asked for.
func ofASnapshot(t *testing.T, c *testcluster.Cluster, ns string) {
	t.Helper()
	const secret = "not for everybody"
	c.Apply(t, `{apiVersion: v1, kind: Secret, metadata: {name: said}, stringData: {word: `+secret+`}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: going, finalizers: [example.com/hold], labels: {of: us}, annotations: {kubectl.kubernetes.io/last-applied-configuration: copied}}, data: {word: `+secret+`}}
`, "-n", ns)
	c.Kubectl(t, "delete", "configmap/going", "-n", ns, "--wait=false")
	file := takeSnapshot(t, c)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	live, saved := []string{"--kubeconfig", c.Kubeconfig()}, []string{"--from", file}
	for _, command := range [][]string{
		{"tree", "-n", ns}, {"tree", "-A"}, {"tree", "deployment/web", "-n", ns, "--owners=false"},
		{"tree", "configmaps", "-l", "of=us", "-n", ns},
		{"delete", "deployment/web", "-n", ns, "--dry-run=client", "--cascade=foreground"},
		{"delete", "namespace", ns, "--dry-run=client"}, {"run", "-A", "--dry-run=client"},
	} {
		if diff := cmp.Diff(object(t, command, live), object(t, command, saved)); diff != "" {
			t.Errorf("kubectl gc %v: of the cluster - and of the snapshot +\n%s", command, diff)
		}
	}
	why := []string{"why", "configmap/held", "-n", ns, "--no-dry-run"}
	if want, got := codes(t, why, live), codes(t, why, saved); !slices.Equal(want, got) || len(want) == 0 {
		t.Errorf("kubectl gc %v: %v of the cluster, and %v of the snapshot", why, want, got)
	}
	has := func(file, word string) bool {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Read(f, info.Size(), snapshot.Limits{Entry: 1 << 30, Total: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, of := range s.Lists() {
			objects, err := s.Objects(of.Group, of.Resource)
			for i := 0; err == nil && i < s.Pages(of); i++ {
				var page []byte
				page, err = s.Page(of, i)
				found = found || bytes.Contains(page, []byte(word))
			}
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(bytes.Join(raws(objects), nil), []byte(word))
		}
		return found
	}
	for _, word := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), "copied"} {
		if has(file, word) {
			t.Errorf("the snapshot has %q", word)
		}
	}
	if asked := takeSnapshot(t, c, "--whole", "secret,cm"); !has(asked, secret) ||
		!has(asked, base64.StdEncoding.EncodeToString([]byte(secret))) {
		t.Error("the data of Secrets and ConfigMaps is not there although it was asked for")
	}
	if code, _, stderr := script.InProcess(t.Context(), "", "snapshot", file, "--kubeconfig", c.Kubeconfig()); code == 0 ||
		!strings.Contains(stderr, "never overwritten") {
		t.Errorf("over a file that exists: exit code %d, %s", code, stderr)
	}
}

// underFaults: of a list that failed the snapshot has a gap, and of one that was begun again, or that
// is in JSON, all objects.
func underFaults(t *testing.T, c *testcluster.Cluster, ns string) {
	t.Helper()
	expired := faultproxy.Status(http.StatusGone, metav1.StatusReasonExpired, "the continue token is too old")
	tree := []string{"tree", "-n", ns}
	var want any = object(t, tree, []string{"--kubeconfig", c.Kubeconfig()})
	for name, test := range map[string]struct {
		on    func(*http.Request) bool
		fault faultproxy.Fault
		whole bool
	}{
		"forbidden":    {faultproxy.Path("/secrets"), faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no"), false},
		"cut off":      {faultproxy.Path("/secrets"), faultproxy.Truncate(40), false},
		"expired":      {faultproxy.Path("/secrets"), expired, false},
		"empty":        {faultproxy.Path("/secrets"), faultproxy.Plain(http.StatusOK, `{"kind":"SecretList","items":[]}`), false},
		"expired once": {faultproxy.Path("/secrets"), faultproxy.Times(1, expired), true},
		"in JSON":      {func(*http.Request) bool { return true }, faultproxy.JSONOnly(), true},
		"whole objects are forbidden": {func(r *http.Request) bool {
			return !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") && strings.HasSuffix(r.URL.Path, "/deployments")
		}, faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no"), true},
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(test.on, test.fault)
		file := filepath.Join(t.TempDir(), "cluster.snapshot")
		code, out, stderr := script.InProcess(t.Context(), "", "snapshot", file, "--kubeconfig", proxy.Kubeconfig(t))
		contentOnly := name == "whole objects are forbidden"
		if code != 0 || test.whole == strings.Contains(stderr, "cannot list secrets") ||
			contentOnly != strings.Contains(stderr, "Warning: only the metadata of deployments.apps was saved: ") {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, stderr)
		}
		if !test.whole {
			missing(t, file, ns, "a snapshot of lists that are "+name, "secrets")
			continue
		}
		// What a server prints of an object comes from all of it.
		got := without(object(t, tree, []string{"--from", file}), "ready")
		if diff := cmp.Diff(without(want, "ready"), got); diff != "" {
			t.Errorf("%s: of the cluster - and of the snapshot +\n%s", name, diff)
		}
	}
}

// onlyHere: where a type may be listed in one namespace only, its objects there are saved, and of all
// others it is not known whether there are any.
func onlyHere(t *testing.T, c *testcluster.Cluster, ns string) {
	t.Helper()
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/secrets") && !strings.Contains(r.URL.Path, "/"+ns+"/")
	}, faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no"))
	file := filepath.Join(t.TempDir(), "cluster.snapshot")
	if code, out, stderr := script.InProcess(t.Context(), "", "snapshot", file, "--kubeconfig", proxy.Kubeconfig(t)); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	here, live := []string{"tree", "-n", ns}, []string{"--kubeconfig", c.Kubeconfig()}
	if diff := cmp.Diff(object(t, here, live), object(t, here, []string{"--from", file})); diff != "" {
		t.Errorf("of the cluster - and of the snapshot +\n%s", diff)
	}
	everywhere := object(t, []string{"tree", "-A"}, []string{"--from", file})
	if gaps := fmt.Sprint(everywhere["gaps"]); everywhere["complete"] != false || !strings.Contains(gaps, "secrets") {
		t.Errorf("complete: %v, with the gaps %s", everywhere["complete"], gaps)
	}
}

func raws(objects []json.RawMessage) (all [][]byte) {
	for _, o := range objects {
		all = append(all, o)
	}
	return all
}

// asTheServerPrints: READY and STATUS of a dump are those that the server prints, of pods in each
// state and of what else has them.
func asTheServerPrints(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	const ns = "printed"
	c.Kubectl(t, "create", "namespace", ns)
	sidecar := `"initContainers":[{"name":"s","image":"i","restartPolicy":"Always"},{"name":"i","image":"i"}],`
	ended := func(more string) string { return `"state":{"terminated":{"exitCode":1` + more + `}}` }
	for i, pod := range []struct{ spec, status string }{
		{"", `"phase":"Pending"`}, {"", `"phase":"Failed","reason":"Evicted"`},
		{"", `"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]`},
		{"", `"phase":"Running","containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]`},
		{"", `"phase":"Running","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]`},
		{"", `"phase":"Failed","containerStatuses":[{"name":"c",` + ended("") + `}]`},
		{"", `"phase":"Failed","containerStatuses":[{"name":"c",` + ended(`,"signal":9`) + `}]`},
		{"", `"phase":"Failed","containerStatuses":[{"name":"c",` + ended(`,"reason":"OOMKilled"`) + `}]`},
		{"", `"phase":"Succeeded","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]`},
		{"", `"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d","ready":true,"state":{"running":{}}}]`},
		{"", `"phase":"Running","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d","ready":true,"state":{"running":{}}}]`},
		{sidecar, `"phase":"Pending","initContainerStatuses":[{"name":"s","ready":true,"started":true,"state":{"running":{}}},{"name":"i","state":{"running":{}}}]`},
		{sidecar, `"phase":"Pending","initContainerStatuses":[{"name":"s","state":{"waiting":{"reason":"ImagePullBackOff"}}}]`},
		{sidecar, `"phase":"Pending","initContainerStatuses":[{"name":"s","state":{"waiting":{"reason":"PodInitializing"}}}]`},
		{sidecar, `"phase":"Pending","initContainerStatuses":[{"name":"s","ready":true,"started":true,"state":{"running":{}}},{"name":"i",` + ended(`,"signal":9`) + `}]`},
		{sidecar, `"phase":"Running","conditions":[{"type":"Initialized","status":"True"}],"initContainerStatuses":[{"name":"s","started":true,"state":{"running":{}}},{"name":"i","state":{"terminated":{"exitCode":0}}}],"containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]`},
	} {
		name := fmt.Sprintf("pod-%02d", i)
		c.Apply(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{%s"containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]}}`,
			name, pod.spec), "-n", ns)
		c.Kubectl(t, "patch", "pod", name, "-n", ns, "--subresource=status", "--type=merge", "-p", `{"status":{`+pod.status+`}}`)
	}
	c.Apply(t, strings.Replace(shop, "name: web", "name: web, finalizers: [a.b/c]", 1), "-n", ns)
	c.Apply(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p, finalizers: [a.b/c]}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: nod}, spec: {unschedulable: true}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}
`, "-n", ns)
	c.Kubectl(t, "delete", "persistentvolumeclaim/p", "-n", ns, "--wait=false")
	c.Kubectl(t, "patch", "pod", "pod-03", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":["a.b/c"]}}`)
	c.Kubectl(t, "delete", "pod/pod-03", "-n", ns, "--wait=false")
	file := takeSnapshot(t, c)
	for _, tree := range [][]string{{"tree", "-n", ns}, {"tree", "node/nod"}, {"tree", "pod/pod-04", "-n", ns}} {
		want := object(t, tree, []string{"--kubeconfig", c.Kubeconfig()})
		if diff := cmp.Diff(want, object(t, tree, []string{"--from", file})); diff != "" || !strings.Contains(fmt.Sprint(want), "status:") {
			t.Errorf("kubectl gc %v: of the cluster - and of the snapshot +\n%s", tree, diff)
		}
	}
}

// missing looks at the tree of a dump in which a type is missing: it is a gap, the others are as
// they were, and no object of it is absent.
func missing(t *testing.T, from, namespace, what, resource string) {
	t.Helper()
	_, out, stderr := script.InProcess(t.Context(), "", "tree", "-n", namespace, "-o", "json", "--from", from)
	tree := v1alpha1.Tree{}
	if err := json.Unmarshal([]byte(out), &tree); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, stderr)
	}
	gap := slices.ContainsFunc(tree.Gaps, func(g v1alpha1.Gap) bool {
		return g.Resource == resource && g.Group == "" && g.Reason == v1alpha1.GapNotSaved && g.Message != ""
	})
	found := false
	for _, n := range tree.Nodes {
		found = found || n.Ref.Kind == "ReplicaSet" && n.State == "Active" && n.Depth == 1
		if n.Ref.Resource == resource && n.State != "Unknown" {
			t.Errorf("%s: %s %s is %s", what, n.Ref.Kind, n.Ref.Name, n.State)
		}
	}
	if !gap || tree.Complete || !found {
		t.Errorf("%s: the type is a gap: %t; complete: %t; the ReplicaSet is there: %t", what, gap, tree.Complete, found)
	}
}

// object is what a command prints as JSON, without commands, which name the cluster, and without where
// and when the cluster was read: that it is the same one is the uid.
func object(t *testing.T, command, of []string) map[string]any {
	t.Helper()
	code, out, stderr := script.InProcess(t.Context(), "", slices.Concat(command, []string{"-o", "json"}, of)...)
	printed := map[string]any{}
	if err := json.Unmarshal([]byte(out), &printed); err != nil {
		t.Fatalf("kubectl gc %v: exit code %d, %v\n%s%s", command, code, err, out, stderr)
	}
	for _, field := range []string{"commands", "context", "server", "observedAt"} {
		without(printed, field)
	}
	return printed
}

// without leaves out a field wherever it is.
func without(v any, field string) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, field)
		for key := range v {
			v[key] = without(v[key], field)
		}
	case []any:
		for i := range v {
			v[i] = without(v[i], field)
		}
	}
	return v
}

// codes are those of the causes of a diagnosis.
func codes(t *testing.T, command, of []string) []string {
	t.Helper()
	_, out, stderr := script.InProcess(t.Context(), "", slices.Concat(command, []string{"-o", "json"}, of)...)
	d := v1alpha1.Diagnosis{}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("kubectl gc %v: %v\n%s", command, err, stderr)
	}
	var all []string
	for _, stuck := range d.Stuck {
		for _, cause := range stuck.Causes {
			all = append(all, cause.Code)
		}
	}
	return all
}

// builtInTypes: each type that the server itself serves is known without a server, by the same
// names, but for those that are no objects that anybody deletes.
func builtInTypes(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	d, err := dump.Read(t.Context(), strings.NewReader(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u"}}`),
		dump.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	disc, err := discovery.NewDiscoveryClientForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	lists, err := disc.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "watch") || !slices.Contains(r.Verbs, "delete") {
				continue
			}
			seen++
			known, ok := d.Find(gv.Group, r.Name)
			if !ok || known.Kind != r.Kind || known.Namespaced != r.Namespaced || known.SingularName != r.SingularName ||
				!slices.Contains(known.Versions, gv.Version) || !slices.Equal(known.ShortNames, r.ShortNames) ||
				!slices.Equal(known.Categories, r.Categories) {
				t.Errorf("%s %+v is known as %+v", gv, r, known)
			}
		}
	}
	if seen < 40 {
		t.Errorf("the server has %d types, which are few", seen)
	}
}
