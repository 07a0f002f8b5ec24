package facts

import (
	"context"
	_ "embed"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	//go:embed testdata/gatekeeper.yaml
	template string
	//go:embed testdata/gatekeeper-others.yaml
	reported string
)

// constraint is one of the kind that the template defines.
const constraint = `
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: K8sRequired
metadata: {name: labels}
spec: {match: {kinds: [{apiGroups: [""], kinds: [ConfigMap]}]}}
`

var (
	constraints = schema.GroupVersionResource{Group: "constraints.gatekeeper.sh", Version: "v1beta1", Resource: "k8srequired"}
	templates   = schema.GroupVersionResource{Group: "templates.gatekeeper.sh", Version: "v1", Resource: "constrainttemplates"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
)

// TestGatekeeper tests what becomes of what Gatekeeper makes of a ConstraintTemplate and a constraint
// that are deleted, in both policies: the CRD, with which the constraints go, the admission policy and
// its binding, and what Gatekeeper's pod reports of both; that the policy goes with its template also
// where that orphans it; what becomes of the reports of other objects; and what comes back. The plans
// say so.
func TestGatekeeper(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	beside.StartGatekeeper(t, c)
	for cascade := range policies {
		t.Run(cascade, func(t *testing.T) {
			enforced(t, c)
			goesAsPlanned(t, c, "", cascade, constraints, "labels")
			enforced(t, c)
			goesAsPlanned(t, c, "", cascade, templates, "k8srequired")
		})
	}
	t.Run("orphan", func(t *testing.T) {
		enforced(t, c)
		goesAsPlanned(t, c, "", "orphan", templates, "k8srequired")
		c.Kubectl(t, "delete", "crd/k8srequired.constraints.gatekeeper.sh")
	})
	t.Run("comes back", func(t *testing.T) {
		enforced(t, c)
		makesAgain(t, c, "", admission("validatingadmissionpolicies"), "gatekeeper-k8srequired", "Gatekeeper",
			"ConstraintTemplate")
		makesAgain(t, c, "", admission("validatingadmissionpolicybindings"), "gatekeeper-k8srequired-labels", "Gatekeeper",
			"K8sRequired")
		makesAgain(t, c, "", definitions, "k8srequired.constraints.gatekeeper.sh", "Gatekeeper", "ConstraintTemplate")
	})
	t.Run("reports", func(t *testing.T) { gatekeeperReports(t, c) })
}

// gatekeeper is the namespace of Gatekeeper.
const gatekeeper = "gatekeeper-system"

// reports are those of Gatekeeper's pods about objects of one type.
func reports(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "status.gatekeeper.sh", Version: "v1beta1", Resource: resource}
}

// gatekeeperReports deletes objects of other types that Gatekeeper's pod reports on.
func gatekeeperReports(t *testing.T, c *testcluster.Cluster) {
	c.Apply(t, reported)
	learnTypes(t, c)
	for _, of := range []struct{ ns, group, version, resource, name, reports, report string }{
		{"", "mutations", "v1", "assign", "pull", "mutatorpodstatuses", "gatekeeper-assign-pull"},
		{"", "expansion", "v1beta1", "expansiontemplate", "pods", "expansiontemplatepodstatuses",
			"gatekeeper-pods"},
		{gatekeeper, "config", "v1alpha1", "configs", "config", "configpodstatuses",
			"gatekeeper-gatekeeper--system-config"},
	} {
		read(t, c, reports(of.reports), gatekeeper).until(of.report, "is there",
			func(*unstructured.Unstructured) bool { return true })
		goesWithin(t, c, "", of.ns, "background", schema.GroupVersionResource{Group: of.group + ".gatekeeper.sh",
			Version: of.version, Resource: of.resource}, of.name)
	}
}

func admission(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}
}

// enforced makes a template and a constraint, and waits until all is there that is made of them. The
// controllers learn the kind of the constraint.
func enforced(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	c.Apply(t, template)
	read(t, c, definitions, "").until("k8srequired.constraints.gatekeeper.sh", "is established",
		func(o *unstructured.Unstructured) bool { return condition(o, "Established") })
	c.Apply(t, constraint)
	testcluster.Eventually(t, "the constraint is enforced", func(context.Context) (bool, error) {
		count := func(resource string) int { return len(read(t, c, reports(resource), gatekeeper).list("")) }
		return len(read(t, c, admission("validatingadmissionpolicybindings"), "").list("")) == 1 &&
			count("constraintpodstatuses") == 1 && count("constrainttemplatepodstatuses") == 1, nil
	})
	learnTypes(t, c)
}
