package diagnose

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
)

// unlisted says why something cannot be listed.
type unlisted struct {
	*core.Examination
	refusal *refusal.Examiner
}

// gap returns why something cannot be listed. That the user may not list it says nothing of anybody else.
func (e *unlisted) gap(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
	if gap.Reason == v1alpha1.GapForbidden {
		return nil
	}
	for _, look := range []func(context.Context, v1alpha1.Gap) []core.Finding{
		func(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
			return e.refusal.Conversions(ctx, gap.Message)
		},
		e.undecodable, e.unavailable,
	} {
		if findings := look(ctx, gap); len(findings) > 0 {
			return findings
		}
	}
	return e.unlistable(ctx, gap)
}

// unlistable is for a type that cannot be listed for what the server says, and nothing else is known.
func (e *unlisted) unlistable(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
	about := e.typeRef(gap)
	f := core.Finding{Code: core.TypeUnlistable, About: &about, Evidence: core.Observed(core.GapClauses([]v1alpha1.Gap{gap})...)}
	if services, err := e.aggregated(ctx, gap.Group); err == nil && len(services) > 0 {
		about = e.Ref(services[0])
		f.Remedy = "The API is served by a component of its own, whose APIService is available: repair or upgrade the component. If it was uninstalled, delete the APIService: only the registration is removed."
		f.Commands = []core.Step{core.Describe(), core.Command("kubectl", "delete", "OBJECT").Doing("removes the registration of the API")}
	}
	return []core.Finding{f}
}

// typeRef identifies the type that a gap is about.
func (e *unlisted) typeRef(gap v1alpha1.Gap) v1alpha1.ObjectRef {
	ref := v1alpha1.ObjectRef{APIVersion: gap.Group, Resource: gap.Resource, Namespace: gap.Namespace}
	if r, ok := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource}); ok {
		ref.APIVersion, ref.Kind = r.APIVersion(), r.Kind
	}
	return ref
}
