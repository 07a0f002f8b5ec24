package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// gapClauses says what cannot be listed, and why. What the user may not list comes to one clause, without what RBAC says of each type.
func gapClauses(gaps []v1alpha1.Gap) []string {
	var all, namespaces []string
	forbidden := map[string][]string{}
	for _, gap := range gaps {
		what, where := gap.Resource, ""
		if gap.Group != "" {
			what += "." + gap.Group
		}
		if gap.Namespace != "" {
			where = " in " + gap.Namespace
		}
		if gap.Reason != v1alpha1.GapForbidden {
			all = append(all, fmt.Sprintf("%s%s cannot be listed: %s", what, where, gap.Message))
			continue
		}
		if forbidden[where] == nil {
			namespaces = append(namespaces, where)
		}
		forbidden[where] = append(forbidden[where], what)
	}
	for _, where := range namespaces {
		all = append(all, "you may not list "+phrase.And(forbidden[where])+where)
	}
	return all
}

// gap returns why something cannot be listed. That the user may not list it says nothing of anybody else.
func (e *examiner) gap(ctx context.Context, gap v1alpha1.Gap) []finding {
	if gap.Reason == v1alpha1.GapForbidden {
		return nil
	}
	for _, look := range []func(context.Context, v1alpha1.Gap) []finding{
		func(ctx context.Context, gap v1alpha1.Gap) []finding { return e.conversions(ctx, gap.Message) },
		e.undecodable, e.unavailable,
	} {
		if findings := look(ctx, gap); len(findings) > 0 {
			return findings
		}
	}
	return e.unlistable(ctx, gap)
}

// unlistable is for a type that cannot be listed for what the server says, and nothing else is known.
func (e *examiner) unlistable(ctx context.Context, gap v1alpha1.Gap) []finding {
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
func (e *examiner) typeRef(gap v1alpha1.Gap) v1alpha1.ObjectRef {
	ref := v1alpha1.ObjectRef{APIVersion: gap.Group, Resource: gap.Resource, Namespace: gap.Namespace}
	if r, ok := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource}); ok {
		ref.APIVersion, ref.Kind = r.APIVersion(), r.Kind
	}
	return ref
}
