package facts

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/replay.yaml
var replayManifest string

var clusterRoles = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1",
	Resource: "clusterroles"}

// attempt is the annotation by which Crossplane deletes an object when the Usage that protects it
// is gone.
const attempt = "usage.crossplane.io/deletion-attempt-with-policy"

// TestDryRunsOfAUsage: the webhook of Crossplane writes on dry runs, as kubectl's shows, and no
// command of kubectl gc has it do so. Once a real delete has, why and the plan of the Usage's
// deletion say what follows, and it does.
func TestDryRunsOfAUsage(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	beside.StartCrossplane(t, c)
	roles := read(t, c, clusterRoles, "")
	usages := read(t, c, usages, "")
	objects, protection, _ := strings.Cut(replayManifest, "# The Usages.\n")
	c.Apply(t, objects)
	owner := roles.get("owner")
	kept := roles.get("kept")
	kept.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole",
		Name: "owner", UID: owner.GetUID()}})
	if _, err := roles.client.Update(t.Context(), kept, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := roles.delete("waiting", metav1.DeletePropagationForeground); err != nil {
		t.Fatal(err)
	}
	c.Apply(t, protection)
	protected := []string{"kept", "waiting", "other"}
	for _, name := range protected {
		roles.until(name, "is in use",
			func(o *unstructured.Unstructured) bool { return o.GetLabels()["crossplane.io/in-use"] == "true" })
		usages.until(name, "is ready", func(o *unstructured.Unstructured) bool { return condition(o, "Ready") })
	}
	archive := filepath.Join(t.TempDir(), "archive.yaml")
	for _, command := range []string{
		"why clusterrole/kept", "why clusterrole/kept -o json", "why clusterrole/kept --no-dry-run",
		"why clusterrole/waiting", "why -A",
		"delete clusterrole/kept --dry-run", "delete clusterrole/kept --dry-run=server",
		"delete clusterrole/kept --dry-run=server --cascade=foreground",
		"delete clusterrole/kept --dry-run=server --cascade=orphan -o json", "delete clusterrole/kept",
		"delete clusterrole/kept --cascade=foreground",
		"delete clusterrole/owner --dry-run=server", "delete clusterrole/owner",
		"delete clusterrole/owner --cascade=foreground --strict",
		"delete usages.apiextensions.crossplane.io/kept --dry-run=server",
		"unfinalize clusterrole/waiting --dry-run=server",
		"unfinalize clusterrole/waiting --finalizer foregroundDeletion --force --dry-run=server",
		"unfinalize clusterrole/waiting --finalizer foregroundDeletion",
		"rescue clusterrole/waiting --force --dry-run=server --archive " + archive, "rescue clusterrole/waiting --dry-run",
		"run --dry-run", "run --dry-run -o json", "tree clusterrole/kept", "tree clusterrole/kept --owners", "check -A",
		"check -A --fix --dry-run=server",
		"wait clusterrole/waiting --timeout=12s",
	} {
		a := plugin.Run(t, c, strings.Fields(command)...)
		if a.Code == 1 && strings.Contains(a.Stderr, "See 'kubectl") {
			t.Errorf("%s: %s", command, a.Stderr)
		}
		for _, name := range protected {
			if o := roles.get(name); o.GetAnnotations()[attempt] != "" {
				t.Fatalf("after %s, exit code %d, %s has the annotation %s; it printed:\n%s%s", command, a.Code, name, attempt,
					a.Stdout, a.Stderr)
			}
		}
	}
	planned := func(name string) (keys []string) {
		var plan v1alpha1.Plan
		plugin.JSON(t, c, &plan, "delete", "usages.apiextensions.crossplane.io/"+name, "--dry-run")
		for _, action := range plan.Actions {
			if action.Verb == "delete" {
				keys = append(keys, action.Object.Kind+"/"+action.Object.Name+" by "+action.By)
			}
		}
		return keys
	}
	if got := planned("kept"); !slices.Equal(got, []string{"Usage/kept by client"}) {
		t.Errorf("before anybody tried to delete it, the plan of the Usage has %q", got)
	}

	if err := roles.deleteDryRun("other"); err == nil {
		t.Error("the webhook lets what is in use be deleted")
	}
	roles.until("other", "shows that the webhook writes on dry runs",
		func(o *unstructured.Unstructured) bool { return o.GetAnnotations()[attempt] != "" })

	if err := roles.delete("kept", metav1.DeletePropagationBackground); err == nil {
		t.Fatal("what is in use was deleted")
	}
	a := plugin.Run(t, c, "why", "clusterrole/kept")
	if !strings.Contains(a.Stdout, "Crossplane deletes it with the policy background") ||
		!strings.Contains(a.Stdout, "The object is deleted with it") {
		t.Errorf("why does not say what follows when the Usage is deleted:\n%s%s", a.Stdout, a.Stderr)
	}
	if a := plugin.Run(t, c, "delete", "clusterrole/kept", "--dry-run"); !strings.Contains(a.Stdout,
		"Crossplane deletes") {
		t.Errorf("the plan does not say what follows when the Usage is deleted:\n%s%s", a.Stdout, a.Stderr)
	}
	if got := planned("kept"); !slices.Equal(got, []string{"Usage/kept by client", "ClusterRole/kept by controller"}) {
		t.Errorf("the plan of the Usage has %q", got)
	}
	if a := plugin.Run(t, c, "delete", "usages.apiextensions.crossplane.io/kept", "--yes", "--timeout=60s"); a.Code != 0 {
		t.Errorf("deleting the Usage and what it keeps: exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	roles.gone("kept")
}
