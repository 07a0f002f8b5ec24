package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// strayed is for an object in a namespace that does not exist: whoever finalized the namespace left
// it behind (NS-015). Before 1.37 the server answers every update of it with 404, so that no
// finalizer can be removed before the namespace exists again. What is advised works on every
// version.
func (e *examiner) strayed(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	if ref.UID == "" || !e.noNamespace(ctx, ref.Namespace) {
		return nil
	}
	o := e.Own(ctx, id)
	if o == nil {
		return nil
	}
	f := core.Finding{
		Code: core.NamespaceGone, Evidence: e.Says(ctx, o),
		About: &v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Namespace", Resource: cluster.Namespaces.Resource,
			Name: ref.Namespace},
	}
	f.Observe("namespace %s does not exist, and %s is still in it", ref.Namespace, ref.Located())
	// A policy with a selector of namespaces refuses to have it deleted, too.
	if o.GetDeletionTimestamp() == nil && len(o.GetFinalizers()) == 0 && len(e.refusal.Rejected(ctx, id)) == 0 {
		f.Remedy = "Delete it if nobody needs it. The server accepts that although the namespace does not exist."
		f.Commands = []core.Step{core.At(ref, core.Describe().Risking(finalizer.RiskNone)),
			core.At(ref, core.Command("kubectl", "delete", "OBJECT")).Doing("deletes the object")}
		return core.Found(ref, f)
	}
	return core.Found(ref, e.revived(ctx, o, f))
}

// revived completes the finding about an object that some servers do not let anyone change before
// its namespace exists again.
func (e *examiner) revived(ctx context.Context, o *unstructured.Unstructured, f core.Finding) core.Finding {
	f.Args = []string{"{namespace}", o.GetNamespace()}
	f.Commands = []core.Step{core.Command("kubectl", "create", "namespace",
		o.GetNamespace()).Safely("creates the namespace again, so that the object can be changed")}
	for _, name := range core.Others(o.GetFinalizers()) {
		a, err := e.Actors.Of(ctx, o, name)
		if err != nil {
			return f // the context has ended
		}
		f.Evidence = append(f.Evidence, a.Evidence...)
		if a.Life == actor.Alive {
			f.Remedy = f.Usual() + " " + phrase.Sentence(
				fmt.Sprintf("%s is alive and can remove finalizer %s once the namespace exists", core.Whoever(a), name))
		}
		if f.Cost != "" {
			f.Cost += " "
		}
		f.Cost += core.Cost(a)
		f.DataLoss = f.DataLoss || a.IsKnown && a.Known.Risk == finalizer.DataLoss
		if o.GetDeletionTimestamp() != nil {
			f.Commands = append(f.Commands, e.ByHand(o, a))
		}
	}
	f.Commands = append(f.Commands,
		core.Command("kubectl", "delete", "OBJECT").Doing("deletes the namespace, and what is left in it"))
	return f
}

// noNamespace reports whether a namespace is proven not to exist, by a live read.
func (e *examiner) noNamespace(ctx context.Context, name string) bool {
	if name == "" {
		return false
	}
	if id, ok := e.Graph.Find(cluster.Namespaces.Group, cluster.Namespaces.Resource, "", name); ok &&
		e.Graph.Observed(id) {
		return false
	}
	o, err := e.Reader.GetObject(ctx, cluster.Namespaces, "", name)
	return err == nil && o == nil
}

// strays says of objects that are not being deleted whether they lie in a namespace that does not
// exist. Where the namespaces could not be listed, none does as far as is known.
func (e *examiner) strays(ctx context.Context) func(graph.ID) bool {
	listed := !slices.ContainsFunc(e.Gaps, func(gap v1alpha1.Gap) bool {
		return gap.Group == cluster.Namespaces.Group && (gap.Resource == cluster.Namespaces.Resource || gap.Resource == "*")
	}) && len(slices.Collect(e.Graph.OfType(cluster.Namespaces.Group, cluster.Namespaces.Resource, ""))) > 0
	missing := map[string]bool{}
	return func(id graph.ID) bool {
		if !listed || !e.Graph.Observed(id) {
			return false
		}
		namespace := e.Graph.Namespace(id)
		is, known := missing[namespace]
		if !known {
			is = e.noNamespace(ctx, namespace)
			missing[namespace] = is
		}
		return is
	}
}
