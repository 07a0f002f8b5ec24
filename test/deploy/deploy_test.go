// Package deploy tests what docs/deploy runs in a cluster: each command under exactly its role, and
// the alerts over its metrics.
package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, controllers) }

// controllers leave the garbage collector out: run would find nothing to do.
var controllers = testcluster.Controllers("namespace-controller")

const manifests = "../../docs/deploy"

// rendered returns the objects of a kustomization that are of a kind.
func rendered[T any](t *testing.T, c *testcluster.Cluster, folder, kind string) []T {
	t.Helper()
	var all []T
	for _, doc := range strings.Split(c.Kubectl(t, "kustomize", filepath.Join(manifests, folder)), "\n---\n") {
		var head struct{ Kind string }
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		if head.Kind != kind {
			continue
		}
		var object T
		if err := yaml.UnmarshalStrict([]byte(doc), &object); err != nil {
			t.Fatalf("%s: a %s: %v", folder, kind, err)
		}
		all = append(all, object)
	}
	return all
}

// someone is a user who may do what some rules say, in the whole cluster, once the authorizer
// knows.
func someone(t *testing.T, c *testcluster.Cluster, name string, rules []rbacv1.PolicyRule) (kubeconfig string) {
	t.Helper()
	role := rbacv1.ClusterRole{Rules: rules}
	role.APIVersion, role.Kind, role.Name = "rbac.authorization.k8s.io/v1", "ClusterRole", name
	text, err := yaml.Marshal(role)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(t, string(text))
	c.Kubectl(t, "create", "clusterrolebinding", name, "--clusterrole="+name, "--user="+name)
	for _, rule := range []rbacv1.PolicyRule{rules[0], rules[len(rules)-1]} {
		for _, verb := range rule.Verbs {
			resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
			c.UntilAllowed(t, name, authorizationv1.ResourceAttributes{Group: rule.APIGroups[0], Verb: verb,
				Resource: resource, Subresource: subresource})
		}
	}
	return c.KubeconfigAs(t, name)
}

// command runs kubectl gc with a line of JSON as output, and returns an error unless it exits with
// 0, misses nothing and fails at nothing.
func command(t *testing.T, kubeconfig string, args ...string) error {
	t.Helper()
	code, stdout, stderr := script.InProcess(t.Context(), "",
		append(args, "--output=jsonl", "--kubeconfig="+kubeconfig)...)
	var answer struct {
		Complete bool
		Failed   []any
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		return fmt.Errorf("%v: exit code %d, %w\n%s", args, code, err, stderr)
	}
	if code != 0 || !answer.Complete || len(answer.Failed) > 0 {
		return fmt.Errorf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return nil
}

// gone says whether there is no such object.
func gone(t *testing.T, c *testcluster.Cluster, object, namespace string) error {
	t.Helper()
	if found := c.Kubectl(t, "get", object, "-n", namespace, "--ignore-not-found", "-o", "name"); found != "" {
		return fmt.Errorf("%s is still there", object)
	}
	return nil
}

// use is what a role is for: it returns an error if a command lacks something.
type use func(t *testing.T, c *testcluster.Cluster, kubeconfig string) error

// reads is what the role for reading is for. A config map that nobody releases is stuck, so that
// why has something to examine.
func reads(t *testing.T, c *testcluster.Cluster, kubeconfig string) error {
	namespace := c.Namespace(t)
	stuck(t, c, namespace)
	for _, args := range [][]string{
		{"tree", "-n", namespace}, {"why", "-n", namespace, "--older-than=0s", "--exit-zero"}, {"check", "-A", "--exit-zero"},
		{"explain", "--in-cluster"},
	} {
		if err := command(t, kubeconfig, args...); err != nil {
			return err
		}
	}
	return nil
}

// stuck makes a config map that is being deleted and that a finalizer holds; it is released when
// the test ends.
func stuck(t *testing.T, c *testcluster.Cluster, namespace string) {
	t.Helper()
	c.Apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stuck, labels: {app: stuck}, finalizers: [example.com/hold]}\n", "-n", namespace)
	c.Kubectl(t, "delete", "configmap", "stuck", "-n", namespace, "--wait=false")
	t.Cleanup(func() {
		// unless it is gone
		_, _ = c.Try(context.Background(), "", "patch", "configmap", "stuck", "-n", namespace, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
	})
}

// collects is what the role of run is for: it deletes an object whose only owner is absent, and
// takes the absent owner off another.
func collects(t *testing.T, c *testcluster.Cluster, kubeconfig string) error {
	namespace := c.Namespace(t)
	c.Apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owner}\n", "-n", namespace)
	uid := c.Kubectl(t, "get", "configmap", "owner", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	const absent = "{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-0000-4000-8000-000000000001}"
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: left, ownerReferences: [%s]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shared, ownerReferences: [%[1]s, {apiVersion: v1, kind: ConfigMap, name: owner, uid: %s}]}
`, absent, uid), "-n", namespace)
	if err := command(t, kubeconfig, "run", "--yes", "-n", namespace); err != nil {
		return err
	}
	if err := gone(t, c, "configmap/left", namespace); err != nil {
		return err
	}
	if names := c.Kubectl(t, "get", "configmap", "shared", "-n", namespace, "-o",
		"jsonpath={.metadata.ownerReferences[*].name}"); names != "owner" {
		return fmt.Errorf("configmap/shared has the owners %s", names)
	}
	return nil
}

// unfinalizes is what the role for unfinalize is for: it finds what is stuck, and releases a config
// map and a namespace.
func unfinalizes(t *testing.T, c *testcluster.Cluster, kubeconfig string) error {
	namespace := c.Namespace(t)
	stuck(t, c, namespace)
	if err := command(t, kubeconfig, "unfinalize", "configmaps", "-l", "app=stuck", "-n", namespace,
		"--finalizer=example.com/hold", "--yes", "--force"); err != nil {
		return err
	}
	if err := gone(t, c, "configmap/stuck", namespace); err != nil {
		return err
	}
	held := c.Namespace(t) + "-held"
	c.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+held+"}\nspec: {finalizers: [example.com/hold]}\n")
	c.Kubectl(t, "delete", "namespace", held, "--wait=false")
	t.Cleanup(func() {
		// unless it is gone
		_, _ = c.Try(context.Background(), `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+held+`"}}`, "replace",
			"--raw", "/api/v1/namespaces/"+held+"/finalize", "-f", "-")
	})
	return command(t, kubeconfig, "unfinalize", "namespace/"+held, "--finalizer=example.com/hold", "--yes", "--force")
}

// TestEachCommandRunsUnderItsRole: with the rules of docs/deploy it lacks nothing, and without any
// of their verbs it lacks something.
func TestEachCommandRunsUnderItsRole(t *testing.T) {
	c := testcluster.Shared(t)
	for folder, does := range map[string]use{"read": reads, "run": collects, "unfinalize": unfinalizes} {
		t.Run(folder, func(t *testing.T) {
			rules := rulesOf(t, c, folder)
			if err := does(t, c, someone(t, c, folder, rules)); err != nil {
				t.Errorf("under the role: %v", err)
			}
			for _, verb := range verbsOf(rules) {
				fewer := slices.Clone(rules)
				for i, rule := range fewer {
					fewer[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
				}
				fewer = slices.DeleteFunc(fewer, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
				if err := does(t, c, someone(t, c, folder+"-without-"+verb, fewer)); err == nil {
					t.Errorf("without %s everything works: the role does not need it", verb)
				}
			}
		})
	}
}

// rulesOf are the rules of all roles of a folder.
func rulesOf(t *testing.T, c *testcluster.Cluster, folder string) []rbacv1.PolicyRule {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, role := range rendered[rbacv1.ClusterRole](t, c, folder, "ClusterRole") {
		rules = append(rules, role.Rules...)
	}
	return rules
}

// verbsOf are the verbs of some rules, each once.
func verbsOf(rules []rbacv1.PolicyRule) []string {
	var verbs []string
	for _, rule := range rules {
		verbs = append(verbs, rule.Verbs...)
	}
	slices.Sort(verbs)
	return slices.Compact(verbs)
}

// TestRolesNameTypesAndNoSubresources: with UPDATE_ROLES=1 it writes them. get on nodes/proxy,
// pods/exec or services/proxy is more than reading, and "*" means these too.
func TestRolesNameTypesAndNoSubresources(t *testing.T) {
	c := testcluster.Shared(t)
	folder := manifests
	if os.Getenv("UPDATE_ROLES") == "" {
		folder = t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(manifests)); err != nil {
			t.Fatal(err)
		}
	}
	script := exec.CommandContext(t.Context(), filepath.Join(folder, "roles"))
	kubectl := c.Command(t.Context())
	script.Env = append(slices.Clip(kubectl.Env), "PATH="+filepath.Dir(kubectl.Path)+":"+os.Getenv("PATH"))
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []string{"read/role.yaml", "run/role.yaml", "unfinalize/role.yaml", "fleet/manifestwork.yaml"} {
		made, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if is, err := os.ReadFile(filepath.Join(manifests, file)); err != nil || !bytes.Equal(is, made) {
			t.Errorf("%s is not what the script makes (%v): run UPDATE_ROLES=1 go test -run TestRoles ./test/deploy", file, err)
		}
	}
	for _, role := range []string{"read", "run", "unfinalize"} {
		rules := rulesOf(t, c, role)
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				if strings.ContainsAny(resource, "*/") && resource != "namespaces/finalize" {
					t.Errorf("%s allows %v on %s", role, rule.Verbs, resource)
				}
			}
		}
		user := role + "-subresources"
		someone(t, c, user, rules)
		for _, sub := range []string{"nodes/proxy", "pods/exec", "services/proxy"} {
			resource, subresource, _ := strings.Cut(sub, "/")
			if out, err := c.Command(t.Context(), "auth", "can-i", "get", resource, "--subresource="+subresource,
				"--as="+user).CombinedOutput(); err == nil {
				t.Errorf("%s may get %s: %s", role, sub, out)
			}
		}
	}
}

// TestWhatIsDeployedRuns: the server takes the objects, and the commands of the CronJobs run as
// their ServiceAccounts and print one line of JSON.
func TestWhatIsDeployedRuns(t *testing.T) {
	c := testcluster.Shared(t)
	for _, folder := range []string{"read", "run", "unfinalize"} {
		c.Kubectl(t, "apply", "--server-side", "-k", filepath.Join(manifests, folder))
	}
	jobs := slices.Concat(rendered[batchv1.CronJob](t, c, "read", "CronJob"),
		rendered[batchv1.CronJob](t, c, "run", "CronJob"))
	if len(jobs) != 3 {
		t.Errorf("%d CronJobs, want why, check and run", len(jobs))
	}
	for _, job := range jobs {
		pod := job.Spec.JobTemplate.Spec.Template.Spec
		args := pod.Containers[0].Args
		if suspended := job.Spec.Suspend != nil && *job.Spec.Suspend; suspended != (args[0] == "run") {
			t.Errorf("%s is suspended: %t", job.Name, suspended)
		}
		if slices.Contains(args, "--allow-mass-collection") || args[0] == "run" &&
			!slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--max-deletes=") }) {
			t.Errorf("%s runs without a breaker: %v", job.Name, args)
		}
		runs(t, c, job)
	}
}

// runs runs the command of a CronJob as its ServiceAccount, and expects one line of JSON.
func runs(t *testing.T, c *testcluster.Cluster, job batchv1.CronJob) {
	t.Helper()
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	args := pod.Containers[0].Args
	account := "system:serviceaccount:kubectl-gc:" + pod.ServiceAccountName
	c.UntilAllowed(t, account, authorizationv1.ResourceAttributes{Verb: "list", Resource: "configmaps"})
	code, stdout, stderr := script.InProcess(t.Context(), "",
		append(args, "--kubeconfig="+c.KubeconfigAs(t, account, "system:serviceaccounts", "system:authenticated"))...)
	if code != 0 || strings.Count(stdout, "\n") != 1 || !json.Valid([]byte(stdout)) {
		t.Errorf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	for line := range strings.Lines(stderr) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%v logs %s", args, line)
		}
	}
}

// TestTheFleetRunsAnIndexForEachCluster: the server takes the CronJob, and the command of each index
// reads its own cluster, with a login that may only read. An index without a kubeconfig fails.
func TestTheFleetRunsAnIndexForEachCluster(t *testing.T) {
	c := testcluster.Shared(t)
	c.Kubectl(t, "apply", "--server-side", "-k", filepath.Join(manifests, "fleet"))
	jobs := rendered[batchv1.CronJob](t, c, "fleet", "CronJob")
	if len(jobs) != 1 {
		t.Fatalf("%d CronJobs, want one", len(jobs))
	}
	job := jobs[0].Spec.JobTemplate.Spec
	pod := job.Template.Spec
	if *job.CompletionMode != batchv1.IndexedCompletion || job.BackoffLimitPerIndex == nil || pod.ServiceAccountName != "" ||
		*pod.AutomountServiceAccountToken {
		t.Errorf("%+v", job)
	}
	clusters := t.TempDir()
	for index := range int(*job.Completions) {
		reader, err := os.ReadFile(someone(t, c, fmt.Sprint("fleet-", index), rulesOf(t, c, "read")))
		if err == nil {
			err = os.WriteFile(filepath.Join(clusters, strconv.Itoa(index)), reader, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for index := range int(*job.Completions) + 1 {
		var args []string
		for _, arg := range pod.Containers[0].Args {
			args = append(args, strings.NewReplacer("$(INDEX)", strconv.Itoa(index), "/clusters", clusters).Replace(arg))
		}
		code, stdout, stderr := script.InProcess(t.Context(), "", args...)
		if index == int(*job.Completions) {
			if code != 1 || stdout != "" {
				t.Errorf("without a kubeconfig: exit code %d: %s%s", code, stdout, stderr)
			}
			continue
		}
		var row v1alpha1.Row
		first, _, _ := strings.Cut(stdout, "\n")
		if err := json.Unmarshal([]byte(first), &row); err != nil || code != 0 || row.Row != "cluster" || !row.Complete ||
			row.ClusterUID == "" {
			t.Errorf("index %d: exit code %d, %v: %s%s", index, code, err, first, stderr)
		}
	}
}

// TestTheImageRunsWithoutRoot, and has nothing but the executable that goreleaser puts beside the
// Dockerfile.
func TestTheImageRunsWithoutRoot(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(manifests, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			steps = append(steps, strings.TrimSpace(line))
		}
	}
	want := []string{"FROM scratch", "ARG TARGETPLATFORM", "COPY $TARGETPLATFORM/kubectl-gc /kubectl-gc",
		"USER 65532:65532", `ENTRYPOINT ["/kubectl-gc"]`}
	if !slices.Equal(steps, want) {
		t.Errorf("%q, want %q", steps, want)
	}
}
