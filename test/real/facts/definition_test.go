package facts

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

// definition: before a CompositeResourceDefinition is gone Crossplane deletes the claims and the
// composites of its types, and then the types.
func definition(t *testing.T, p *platform) {
	const name = "xprojects.platform.example.org"
	p.define(t, renamed("Project"), name)
	ns := p.Namespace(t)
	p.Apply(t, "{apiVersion: platform.example.org/v1, kind: Project, metadata: {name: acme}, spec: {size: small}}",
		"-n", ns)
	projects := schema.GroupVersionResource{Group: "platform.example.org", Version: "v1", Resource: "projects"}
	m := p.tenantOf(t, projects, ns)
	xrd := []types.UID{read(t, p.Cluster, xrds, "").get(name).GetUID()}
	ofClaims := []types.UID{read(t, p.Cluster, crds, "").get("projects.platform.example.org").GetUID()}
	ofComposites := []types.UID{read(t, p.Cluster, crds, "").get(name).GetUID()}

	var plan v1alpha1.Plan
	if code := plugin.JSON(t, p.Cluster, &plan, "delete", "--dry-run=client",
		"compositeresourcedefinitions.apiextensions.crossplane.io/"+name); code != 0 || !plan.Complete {
		t.Fatalf("planning: exit code %d, complete %t", code, plan.Complete)
	}
	wave, by := map[types.UID]int{}, map[types.UID]string{}
	for _, a := range plan.Actions {
		if a.Verb == "delete" {
			wave[types.UID(a.Object.UID)], by[types.UID(a.Object.UID)] = a.Wave, a.By
		}
	}
	if by[m.claim.GetUID()] != "controller" || by[m.composite.GetUID()] != "controller" ||
		wave[m.claim.GetUID()] >= wave[ofClaims[0]] || wave[m.composite.GetUID()] >= wave[ofComposites[0]] {
		t.Errorf("the plan has Crossplane delete claims and composites before their types in the waves %v by %v", wave, by)
	}
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, xrds, "").delete(name, metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the definition is gone with all that it defined",
		func(h record.History) bool { return gone(h, append(m.all(), xrd...)...) })

	claim, composite := []types.UID{m.claim.GetUID()}, []types.UID{m.composite.GetUID()}
	inOrder(t, h, stage{"definition", record.Deleted, xrd}, stage{"claim", record.Deleted, claim},
		stage{"claim", record.Gone, claim},
		stage{"type of claims", record.Gone, ofClaims}, stage{"definition", record.Gone, xrd})
	inOrder(t, h, stage{"definition", record.Deleted, xrd}, stage{"composite", record.Deleted, composite},
		stage{"composite", record.Gone, composite},
		stage{"type of composites", record.Gone, ofComposites}, stage{"definition", record.Gone, xrd})
	inOrder(t, h, stage{"composite", record.Gone, composite}, stage{"managed resources", record.Deleted, uids(m.managed)})
	byPlan := went(ofOld(h, "compositeresourcedefinitions.apiextensions.crossplane.io",
		"customresourcedefinitions.apiextensions.k8s.io", "projects.platform.example.org", name,
		"objects.kubernetes.crossplane.io", "providerconfigusages.kubernetes.crossplane.io"))
	var planned []types.UID
	for uid := range wave {
		if slices.Contains(byPlan, uid) {
			planned = append(planned, uid)
		}
	}
	if slices.Sort(planned); !slices.Equal(planned, byPlan) {
		t.Errorf("the plan deletes %v of these, and %v are gone", planned, byPlan)
	}
}
