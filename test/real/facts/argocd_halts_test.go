package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// heldAndAdopted are an object that a finalizer holds and that is to be kept, or not, and one that is
// owned by another.
const heldAndAdopted = `---
{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/hold], annotations: {%s}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: adopted}}
`

// argoHalts tests that Argo CD deletes nothing of an Application as long as an object of it is being
// deleted, also one that it keeps, and never one that has owners; and that plan and why say so.
func argoHalts(t *testing.T, c *testcluster.Cluster, manifests string) {
	for name, annotation := range map[string]string{
		"keeps": "argocd.argoproj.io/sync-options: Delete=false", "drops": "",
	} {
		t.Run(name, func(t *testing.T) {
			a := &deployed{name: name, extra: fmt.Sprintf(heldAndAdopted, annotation)}
			a.apply(t, c, manifests)
			a.synced(t, c)
			maps := read(t, c, configMaps, name)
			c.Kubectl(t, "patch", "configmap/adopted", "-n", name, "--type=merge", "-p", fmt.Sprintf(
				`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"kept","uid":%q}]}}`,
				maps.get("kept").GetUID()))
			if err := maps.delete("held", metav1.DeletePropagationBackground); err != nil {
				t.Fatal(err)
			}
			a.plan(t, c)
			plan := plugin.Run(t, c, "delete", "--dry-run=client", "application.argoproj.io/"+name, "-n", "argocd")
			if want := fmt.Sprintf("Application argocd/%[1]s is deleted, once ConfigMap %[1]s/held is gone", name); strings.Count(
				plan.Stdout, want) != 5 {
				t.Errorf("the plan does not say %q of all five:\n%s", want, plan.Stdout)
			}
			held := []types.UID{maps.get("held").GetUID()}
			after := slices.DeleteFunc(slices.Clone(a.planned), func(uid types.UID) bool {
				return slices.Contains(held, uid) || uid == read(t, c, applications, "argocd").get(name).GetUID()
			})
			r := record.Start(t, c.Config())
			if err := read(t, c, applications, "argocd").delete(name, metav1.DeletePropagationBackground); err != nil {
				t.Fatal(err)
			}
			var why v1alpha1.Diagnosis
			if code := plugin.JSON(t, c, &why, "why", "application.argoproj.io/"+name, "-n", "argocd"); code != 2 ||
				len(why.Stuck) != 1 || len(why.Stuck[0].Causes) != 1 || why.Stuck[0].Causes[0].Object.Name != "held" ||
				!slices.Contains(why.Stuck[0].Causes[0].Evidence, fmt.Sprintf(
					"Argo CD deletes nothing of Application argocd/%[1]s until ConfigMap %[1]s/held is gone", name)) {
				t.Errorf("exit code %d, why says %+v", code, why.Stuck)
			}
			c.Kubectl(t, "patch", "configmap/held", "-n", name, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			h := r.Until(t, "all of the plan is gone", func(h record.History) bool { return gone(h, a.planned...) })
			inOrder(t, h, stage{"what is held", record.Gone, held}, stage{"the others", record.Deleted, after})
			if went := went(slices.DeleteFunc(h, func(e record.Event) bool {
				return e.Namespace != name && e.Namespace != name+"-away" && e.Name != name
			})); !slices.Equal(went, a.planned) {
				t.Errorf("the plan deletes %v, and %v are gone", a.planned, went)
			}
		})
	}
}
