package facts

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/argocd.yaml
var argoObjects string

var (
	applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	jobs         = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// deployed is an Application that has applied the objects of argocd.yaml, into a namespace that has
// its name and into NAME-away.
type deployed struct {
	name string
	// in is its own namespace, if that is not argocd.
	in string
	// cascade is what follows the name of its finalizer; "none" if it has no finalizer.
	cascade string
	// policy is its spec.syncPolicy, and extra are more objects of it.
	policy, extra string
	// permits are changes to the spec of its AppProject, once all is applied.
	permits string
	// hook is a Job that is there as one of its hooks, and that has not ended.
	hook string
	// gone are the objects that are gone in the end, by their names.
	gone []string
	// waits is what why says while the deletion waits for release.
	waits   string
	release func(*testing.T, *testcluster.Cluster)

	planned []types.UID
}

const (
	synced     = "{automated: {}}"
	confirmed  = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: confirmed, annotations: {argocd.argoproj.io/sync-options: Delete=confirm}}}\n"
	jobOfAHook = "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: hook, annotations: {%s}}, " +
		"spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: example.com/c}]}}}}\n"
)

// TestArgoCD tests what the application controller of Argo CD does with the objects of an Application
// that is deleted, by its settings, the marks of the objects, and what its AppProject permits; for
// what it waits, and that why says so; and which objects it makes again. The plans say so.
func TestArgoCD(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	manifests := t.TempDir()
	beside.StartArgoCD(t, c, manifests, "apps")
	c.Kubectl(t, "create", "namespace", "apps")
	learnTypes(t, c)
	kinds := []string{"away", "first", "goes", "last", "secret"}
	all := []*deployed{
		{name: "foreground", gone: kinds},
		{name: "background", cascade: "/background", gone: kinds},
		{name: "no-finalizer", cascade: "none"},
		{name: "options", policy: "{automated: {}, syncOptions: [Delete=false]}", gone: []string{"goes"}},
		{name: "kinds", permits: `"namespaceResourceBlacklist":[{"group":"","kind":"Secret"}]`,
			gone: []string{"away", "first", "goes", "last"}},
		{name: "destinations", permits: `"destinations":[{"server":"*","namespace":"*"},{"server":"*","namespace":"!*-away"}]`,
			gone: []string{"first", "goes", "last", "secret"}},
		{name: "elsewhere", in: "apps", permits: `"namespaceResourceBlacklist":[{"group":"","kind":"Secret"}]`,
			gone: []string{"away", "first", "goes", "last"}},
		{name: "confirm", in: "apps", extra: confirmed, gone: append([]string{"confirmed"}, kinds...),
			waits:   "Argo CD waits until somebody confirms the deletion of ConfigMap confirm/confirmed.",
			release: confirm},
		{name: "before", hook: "argocd.argoproj.io/hook: PreDelete", gone: append([]string{"hook"}, kinds...),
			waits:   "Argo CD waits for the PreDelete hook Job before/hook to end, before it deletes anything.",
			release: func(t *testing.T, c *testcluster.Cluster) { ends(t, c, "before") }},
		{name: "after", cascade: "none", hook: "helm.sh/hook: post-delete",
			waits:   "Argo CD waits for the PostDelete hook Job after/hook to end, before it lets the Application go.",
			release: func(t *testing.T, c *testcluster.Cluster) { ends(t, c, "after") }},
	}
	healing := map[string]*deployed{
		"heals":    {name: "heals", policy: "{automated: {selfHeal: true}}"},
		"syncs":    {name: "syncs", policy: synced},
		"disabled": {name: "disabled", policy: "{automated: {selfHeal: true, enabled: false}}"},
		"homeless": {name: "homeless", policy: "{automated: {selfHeal: true}, retry: {limit: 1, backoff: {duration: 1s}}}"},
		"housed":   {name: "housed", policy: "{automated: {selfHeal: true}, syncOptions: [CreateNamespace=true], retry: {limit: 5, backoff: {duration: 1s}}}"},
	}
	for _, a := range all {
		a.apply(t, c, manifests)
	}
	for _, a := range healing {
		a.apply(t, c, manifests)
	}
	for _, a := range all {
		a.synced(t, c)
	}
	for _, a := range healing {
		a.synced(t, c)
	}
	t.Run("prunes", func(t *testing.T) { argoPrunes(t, c, manifests) })
	t.Run("held by one", func(t *testing.T) { argoHalts(t, c, manifests) })
	t.Run("comes back", func(t *testing.T) { comesBackOrNot(t, c, healing) })
	for _, a := range all {
		if a.permits != "" {
			c.Kubectl(t, "patch", "appproject.argoproj.io/"+a.name, "-n", "argocd", "--type=merge", "-p",
				`{"spec":{`+a.permits+`}}`)
		}
		a.plan(t, c)
	}
	r := record.Start(t, c.Config())
	for _, a := range all {
		if err := read(t, c, applications, a.namespace()).delete(a.name, metav1.DeletePropagationBackground); err != nil {
			t.Fatal(err)
		}
	}
	whole := func(waiting bool) func(record.History) bool {
		return func(h record.History) bool {
			return !slices.ContainsFunc(all, func(a *deployed) bool {
				return (a.release == nil || waiting) && !gone(h, a.planned...)
			})
		}
	}
	before := r.Until(t, "all of the plans is gone that waits for nothing", whole(false))
	for _, a := range all {
		if a.release != nil {
			t.Run(a.name+" waits", func(t *testing.T) { a.wait(t, c, before) })
		}
	}
	h := r.Until(t, "all of the plans is gone", whole(true))
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) { a.test(t, h) })
	}
}

// plan plans the deletion of the Application, and tests that the plan says that somebody has to
// confirm it, where one of the objects wants that.
func (a *deployed) plan(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	plan := planOf(t, c, "application.argoproj.io/"+a.name, "-n", a.namespace())
	for _, ref := range plan.Deleted {
		a.planned = append(a.planned, types.UID(ref.UID))
	}
	slices.Sort(a.planned)
	var says string
	for _, f := range plan.Findings {
		if f.Code == "NeedsConfirmation" {
			says = f.Message
		}
	}
	if needs := a.extra == confirmed; needs != strings.Contains(says, strings.TrimSuffix(a.waits, ".")+"; once") || !needs && says != "" {
		t.Errorf("%s: the plan says of a confirmation: %q", a.name, says)
	}
}

func (a *deployed) namespace() string {
	if a.in != "" {
		return a.in
	}
	return "argocd"
}

// apply makes the Application, and what it needs.
func (a *deployed) apply(t *testing.T, c *testcluster.Cluster, manifests string) {
	t.Helper()
	job := ""
	if a.hook != "" {
		job = fmt.Sprintf(jobOfAHook, a.hook)
	}
	text := strings.ReplaceAll(argoObjects, "NAME", a.name) + a.extra + job
	if err := os.WriteFile(filepath.Join(manifests, a.name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	finalizers := "resources-finalizer.argocd.argoproj.io" + a.cascade
	if a.cascade == "none" {
		finalizers = ""
	}
	policy := a.policy
	if policy == "" {
		policy = synced
	}
	c.Apply(t, fmt.Sprintf(`
{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s-away}}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: %[1]s, namespace: argocd}
spec: {sourceRepos: ['*'], sourceNamespaces: ['*'], destinations: [{server: '*', namespace: '*'}], clusterResourceWhitelist: [{group: '', kind: Namespace}]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: %[2]s, finalizers: [%[3]s]}
spec:
  project: %[1]s
  source: {repoURL: 'https://example.com/x.git', path: %[1]s, targetRevision: HEAD}
  destination: {server: 'https://kubernetes.default.svc', namespace: %[1]s}
  syncPolicy: %[4]s
`, a.name, a.namespace(), finalizers, policy))
	if strings.Contains(a.policy, "enabled: false") {
		c.Kubectl(t, "patch", "application.argoproj.io/"+a.name, "-n", a.namespace(), "--type=merge", "-p", `{"operation":{"sync":{}}}`)
	}
	if a.hook != "" { // as Argo CD makes it when the deletion begins
		c.Apply(t, strings.Replace(job, "annotations: {", fmt.Sprintf(
			"annotations: {argocd.argoproj.io/tracking-id: '%[1]s:batch/Job:%[1]s/hook', ", a.name), 1), "-n", a.name)
	}
}

// synced waits until the Application has applied its objects, and knows of its hooks.
func (a *deployed) synced(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	read(t, c, applications, a.namespace()).until(a.name, "is synced", func(o *unstructured.Unstructured) bool {
		phase, _, _ := unstructured.NestedString(o.Object, "status", "operationState", "phase")
		sync, _, _ := unstructured.NestedString(o.Object, "status", "sync", "status")
		hooked := slices.ContainsFunc(o.GetFinalizers(), func(f string) bool { return strings.HasSuffix(f, "/cleanup") })
		return phase == "Succeeded" && sync == "Synced" && hooked == (a.hook != "")
	})
}

// comesBackOrNot tests that a plan says of those Applications that they make an object again that is
// deleted, alone or with its namespace, which do.
func comesBackOrNot(t *testing.T, c *testcluster.Cluster, all map[string]*deployed) {
	for name, what := range map[string]string{"heals": "configmap/first", "syncs": "configmap/first",
		"disabled": "configmap/first", "homeless": "namespace/homeless", "housed": "namespace/housed"} {
		var plan v1alpha1.Plan
		if code := plugin.JSON(t, c, &plan, "delete", "--dry-run=client", what, "-n", name); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		var again []string
		for _, r := range plan.Recreated {
			again = append(again, r.Object.Name)
			if r.Program != "Argo CD" || r.With != "" || r.Owner.Name != name {
				t.Errorf("%s: the plan says %+v", name, r)
			}
		}
		var want []string
		switch name {
		case "heals":
			want = []string{"first"}
		case "housed":
			want = []string{"first", "goes", "helmkept", "kept", "last", "secret"}
		}
		if slices.Sort(again); !slices.Equal(again, want) {
			t.Errorf("%s: the plan says that these come back: %v, want %v", name, again, want)
		}
		c.Kubectl(t, "delete", what, "-n", name)
	}
	for _, name := range []string{"heals", "housed"} { // the delete commands have returned: what is there is new
		read(t, c, configMaps, name).until("first", "is made again", func(*unstructured.Unstructured) bool { return true })
	}
	for _, name := range []string{"syncs", "disabled"} {
		read(t, c, applications, "argocd").until(name, "sees that it is gone", func(o *unstructured.Unstructured) bool {
			sync, _, _ := unstructured.NestedString(o.Object, "status", "sync", "status")
			return sync == "OutOfSync"
		})
	}
	read(t, c, applications, "argocd").until("homeless", "gives up", func(o *unstructured.Unstructured) bool {
		phase, _, _ := unstructured.NestedString(o.Object, "status", "operationState", "phase")
		return phase == "Failed"
	})
	for _, name := range []string{"syncs", "disabled", "homeless"} {
		for _, o := range read(t, c, configMaps, name).list("") {
			if o.GetName() == "first" {
				t.Errorf("%s makes it again", name)
			}
		}
		if _, operates := read(t, c, applications, "argocd").get(name).Object["operation"]; operates {
			t.Errorf("%s is about to sync", name)
		}
	}
}

// wait tests what why says of an Application whose deletion waits, and ends that.
func (a *deployed) wait(t *testing.T, c *testcluster.Cluster, before record.History) {
	if h := before.In(a.name).Kinds(record.Deleted, record.Gone); len(h) > 0 {
		t.Errorf("these are deleted already: %s", h)
	}
	var diagnosis v1alpha1.Diagnosis
	code := plugin.JSON(t, c, &diagnosis, "why", "application.argoproj.io/"+a.name, "-n", a.namespace())
	if code != 2 || len(diagnosis.Stuck) != 1 || diagnosis.Stuck[0].Causes[0].Code != "ActorWaiting" ||
		diagnosis.Stuck[0].Causes[0].Summary != a.waits {
		t.Errorf("why: exit code %d, %+v", code, diagnosis.Stuck)
	}
	a.release(t, c)
}

// confirm confirms the deletion with the command that why prints.
func confirm(t *testing.T, c *testcluster.Cluster) {
	var diagnosis v1alpha1.Diagnosis
	plugin.JSON(t, c, &diagnosis, "why", "application.argoproj.io/confirm", "-n", "apps")
	for _, r := range diagnosis.Stuck[0].Causes[0].Commands {
		if args := strings.Fields(r); args[1] == "annotate" {
			c.Kubectl(t, args[1:]...)
			return
		}
	}
	t.Errorf("why has no command that confirms it: %+v", diagnosis.Stuck)
}

// ends takes the part of the controller of Jobs.
func ends(t *testing.T, c *testcluster.Cluster, namespace string) {
	now := time.Now().UTC().Format(time.RFC3339)
	status(t, c, "job/hook", fmt.Sprintf(`{"startTime":"%[1]s","completionTime":"%[1]s","succeeded":1,
"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}`, now), "-n", namespace)
	testcluster.Eventually(t, "the Job has ended", func(context.Context) (bool, error) {
		all := read(t, c, jobs, namespace).list("")
		return len(all) == 0 || condition(&all[0], "Complete"), nil
	})
}

// test tests that what the plan deletes is gone and nothing else, and the order of the waves.
func (a *deployed) test(t *testing.T, h record.History) {
	var order []string
	var all []types.UID
	for _, e := range h.Kinds(record.Gone) {
		its := e.Namespace == a.name || e.Namespace == a.name+"-away"
		if its {
			order = append(order, e.Name)
		}
		if its || e.Namespace == a.namespace() && e.Name == a.name {
			all = append(all, e.UID)
		}
	}
	names := slices.Sorted(slices.Values(order))
	slices.Sort(all)
	want := slices.Sorted(slices.Values(a.gone))
	if !slices.Equal(a.planned, all) || !slices.Equal(names, want) {
		t.Errorf("the plan deletes %v, and %v are gone: %v, want %v", a.planned, all, names, want)
	}
	if len(order) > 1 && (order[0] != "last" || order[len(order)-1] != "first") {
		t.Errorf("they are gone in this order: %v", order)
	}
}
