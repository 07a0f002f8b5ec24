package refusal

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// RefusedToController returns who refuses to a controller of Kubernetes what it has to do to an
// object: to remove a finalizer, or without one to delete it. Who would let nobody remove it comes
// first.
func (e *Examiner) RefusedToController(ctx context.Context, id graph.ID, name string,
	by Account) (findings []core.Finding, suspects []v1alpha1.Observation) {
	t, o := e.live(ctx, id)
	if o == nil {
		return nil, nil
	}
	if name == "" {
		return e.refusedTo(ctx, admission.Write{Operation: admissionv1.Delete, Type: t, Object: o}, by,
			func(ctx context.Context, c *cluster.Client) error {
				_, err := c.Delete(ctx, t, o.GetNamespace(), o.GetName(), string(o.GetUID()),
					cluster.DeleteOptions{Policy: "Background", DryRun: true})
				return err
			})
	}
	steps := withoutFinalizers(o, []string{name})
	if len(steps) == 0 {
		return nil, nil
	}
	if findings = e.Refusals(ctx, o, []string{name}); len(findings) > 0 {
		return core.Each(findings, func(f *core.Finding) { f.Actor = by.who }), nil
	}
	update := admission.Write{Operation: admissionv1.Update, Type: t, Object: o}
	return e.refusedTo(ctx, update, by, removing(update, steps))
}

// RefusedToOrphan returns who refuses to the garbage collector to take the reference to an owner
// off a dependent (GC-055, GC-067).
func (e *Examiner) RefusedToOrphan(ctx context.Context, id, owner graph.ID) []core.Finding {
	t, o := e.live(ctx, id)
	if o == nil {
		return nil
	}
	steps := cluster.Unchanged(string(o.GetUID()), o.GetResourceVersion())
	all := o.GetOwnerReferences()
	for i := len(all) - 1; i >= 0; i-- {
		if string(all[i].UID) == e.Graph.Ref(owner).UID {
			steps = append(steps, cluster.PatchStep{Op: "remove", Path: fmt.Sprintf("/metadata/ownerReferences/%d", i)})
		}
	}
	w := admission.Write{Operation: admissionv1.Update, Type: t, Object: o}
	return e.refusedToAnybody(ctx, w, CollectorAccount, removing(w, steps))
}

// RefusedToFinalize returns who refuses to the namespace controller the last step, which is a PUT
// to the finalize subresource of a namespace (NS-011).
func (e *Examiner) RefusedToFinalize(ctx context.Context, namespace *unstructured.Unstructured,
	left []string) []core.Finding {
	w := admission.Write{Operation: admissionv1.Update, Type: cluster.NamespaceType, Object: namespace,
		Subresource: "finalize"}
	return e.refusedToAnybody(ctx, w, namespacesAccount, func(ctx context.Context, c *cluster.Client) error {
		_, err := c.Finalize(ctx, namespace, left, cluster.WriteOptions{DryRun: true})
		return err
	})
}

// refusedToAnybody returns who refuses an update of a controller: to everybody, or else to its
// ServiceAccount.
func (e *Examiner) refusedToAnybody(ctx context.Context, w admission.Write, by Account,
	try func(context.Context, *cluster.Client) error) []core.Finding {
	err := e.Tries.send(ctx, e, w, func(ctx context.Context) error { return try(ctx, e.Client) })
	var findings []core.Finding
	if err != nil {
		findings, _ = e.updateRefused(ctx, w, err)
	}
	if len(findings) == 0 {
		findings, _ = e.refusedTo(ctx, w, by, try)
	}
	return core.Each(findings, func(f *core.Finding) { f.Actor = by.who })
}

// live reads an object as it is now, nil if it is gone or cannot be read.
func (e *Examiner) live(ctx context.Context, id graph.ID) (graph.Type, *unstructured.Unstructured) {
	ref := e.Graph.Ref(id)
	t, ok := e.Graph.Type(id)
	if !ok || ref.UID == "" {
		return t, nil
	}
	o, err := e.Reader.GetLive(ctx, t, ref.Namespace, ref.Name)
	if err != nil || o == nil || string(o.GetUID()) != ref.UID {
		return t, nil
	}
	return t, o
}

// RefusedInside returns who refuses to the namespace controller to delete what is in a namespace.
// It is asked about one object of each type.
func (e *Examiner) RefusedInside(ctx context.Context, content []graph.ID) []core.Finding {
	var all []core.Finding
	asked := map[graph.Type]bool{}
	for _, id := range content {
		t, ok := e.Graph.Type(id)
		if !ok || asked[t] || e.Graph.DeletionTimestamp(id) != 0 {
			continue
		}
		asked[t] = true
		refused, _ := e.RefusedToController(ctx, id, "", namespacesAccount)
		all = append(all, core.Behind(e.Graph.Ref(id), core.Found(e.Graph.Ref(id), refused...))...)
	}
	return all
}
