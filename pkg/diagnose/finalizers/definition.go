package finalizers

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// withDefinition adds to a finding about a program that does not run that the CustomResourceDefinition
// of the object is being deleted as well. It goes with its last instance, and until then the server
// accepts no new ones, so that what installs both may fail, or lose the definition afterwards
// (https://github.com/crossplane/crossplane/issues/4251).
func (e *Examiner) withDefinition(ctx context.Context, o *unstructured.Unstructured, f core.Finding) core.Finding {
	kind := o.GroupVersionKind()
	t, served := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	if !served || cluster.BuiltIn(kind.Group) || o.GetDeletionTimestamp() == nil {
		return f
	}
	crd, err := e.Reader.GetObject(ctx, cluster.CRDs, "", t.Resource+"."+kind.Group)
	if err != nil || crd == nil || crd.GetDeletionTimestamp() == nil {
		return f
	}
	f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(crd, "metadata.deletionTimestamp"),
		cluster.Located(crd)+" is being deleted as well, and waits for its instances")...)
	f.Remedy = f.Usual() + " Its definition is being deleted as well, and goes with the last instance: what " +
		"installs the program together with it may fail before, or lose it then. If so, the finalizer has to be removed by hand."
	return f
}
