package diagnose

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// unlisted says why something cannot be listed.
type unlisted struct {
	*core
	refusal *refusal
}

// gap returns why something cannot be listed. That the user may not list it says nothing of anybody else.
func (e *unlisted) gap(ctx context.Context, gap v1alpha1.Gap) []finding {
	if gap.Reason == v1alpha1.GapForbidden {
		return nil
	}
	for _, look := range []func(context.Context, v1alpha1.Gap) []finding{
		func(ctx context.Context, gap v1alpha1.Gap) []finding { return e.refusal.conversions(ctx, gap.Message) },
		e.undecodable, e.unavailable,
	} {
		if findings := look(ctx, gap); len(findings) > 0 {
			return findings
		}
	}
	return e.unlistable(ctx, gap)
}

// unlistable is for a type that cannot be listed for what the server says, and nothing else is known.
func (e *unlisted) unlistable(ctx context.Context, gap v1alpha1.Gap) []finding {
	about := e.typeRef(gap)
	f := finding{code: TypeUnlistable, about: &about, evidence: observed(gapClauses([]v1alpha1.Gap{gap})...), remedy: "Check the log of the API server."}
	if services, err := e.aggregated(ctx, gap.Group); err == nil && len(services) > 0 {
		about = e.ref(services[0])
		f.remedy = "The API is served by a component of its own, whose APIService is available: repair or upgrade the component. If it was uninstalled, delete the APIService: only the registration is removed."
		f.commands = []step{describe(), command("kubectl", "delete", "OBJECT").doing("removes the registration of the API")}
	}
	return []finding{f}
}

// typeRef identifies the type that a gap is about.
func (e *unlisted) typeRef(gap v1alpha1.Gap) v1alpha1.ObjectRef {
	ref := v1alpha1.ObjectRef{APIVersion: gap.Group, Resource: gap.Resource, Namespace: gap.Namespace}
	if r, ok := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource}); ok {
		ref.APIVersion, ref.Kind = r.APIVersion(), r.Kind
	}
	return ref
}
