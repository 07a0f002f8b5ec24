package deletion

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// backend is a Service that the API server calls when objects of some types are updated: finalizers
// cannot be removed from these once nothing answers there.
type backend struct {
	admission.Service
	// config is the object that names it, which does not go, or goes later.
	config graph.Ref
	calls  func(graph.ID) bool
}

// backendTypes are the types of what answers.
var backendTypes = []schema.GroupResource{cluster.Services, cluster.Deployments, cluster.StatefulSets,
	cluster.DaemonSets}

// findBackends finds out which objects with finalizers nobody can update any more, because a
// webhook is called for each update, and what answers it goes with the deletion: an admission
// webhook with failurePolicy Fail that selects nothing further, or the webhook that converts the
// type. The error is the end of ctx.
func findBackends(ctx context.Context, reader *cluster.Reader, p *plan.Plan) (plan.Needs, error) {
	going := goingOf(p)
	if len(p.Blockers) == 0 || !slices.ContainsFunc(going.ids,
		func(id graph.ID) bool { return isOf(p.Graph.Ref(id), backendTypes) }) {
		return nil, nil
	}
	needs := plan.Needs{}
	for _, b := range slices.Concat(admissionBackends(ctx, reader, p.Graph, admissionv1.Update),
		conversionBackends(ctx, reader, p.Graph)) {
		if id, ok := p.Graph.Find(b.config.Group(), b.config.Resource, "", b.config.Name); ok && going.is[id] &&
			b.config.Resource != cluster.CRDs.Resource {
			continue // whatever is called then is nobody's business
		}
		part, ok := going.behind(ctx, reader, b.Service)
		if !ok {
			continue
		}
		for _, blocker := range p.Blockers {
			if len(blocker.Finalizers) > 0 && b.calls(blocker.Object) {
				needs[blocker.Object] = append(needs[blocker.Object], plan.Removers{{part}})
			}
		}
	}
	return needs, context.Cause(ctx)
}

// behind returns what goes of a backend, so that nothing answers there: the Service, or each
// workload that it selects.
func (g going) behind(ctx context.Context, reader *cluster.Reader, b admission.Service) (graph.ID, bool) {
	if id, ok := g.plan.Graph.Find("", cluster.Services.Resource, b.Namespace, b.Name); ok && g.is[id] {
		return id, true
	}
	service, err := reader.GetObject(ctx, cluster.Services, b.Namespace, b.Name)
	if err != nil || service == nil {
		return 0, false
	}
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return 0, false
	}
	var first graph.ID
	found := false
	for _, resource := range workloadTypes {
		all, err := reader.ListObjects(ctx, resource, b.Namespace, cluster.Selection{})
		if err != nil {
			return 0, false
		}
		for _, w := range all {
			pods, _, _ := unstructured.NestedStringMap(w.Object, "spec", "template", "metadata", "labels")
			if !labels.SelectorFromSet(selector).Matches(labels.Set(pods)) {
				continue
			}
			id, ok := g.plan.Graph.Find(resource.Group, resource.Resource, b.Namespace, w.GetName())
			if !ok || !g.is[id] || g.orphans[id] {
				return 0, false
			}
			if !found {
				first, found = id, true
			}
		}
	}
	return first, found
}

// admissionBackends are those of the webhooks that the server calls for each operation on objects of
// some types, and without which it refuses that.
func admissionBackends(ctx context.Context, reader *cluster.Reader, g *graph.Graph,
	operation admissionv1.OperationType) []backend {
	hooks, _ := reader.Admission().Webhooks(ctx) // what may not be read the wait tells
	var all []backend
	for _, h := range hooks {
		s := h.Service()
		if s.Name == "" || !h.Fails() {
			continue
		}
		known := map[typeIn]bool{}
		all = append(all, backend{Service: s, config: configOf(h), calls: func(id graph.ID) bool {
			of, _ := g.Type(id)
			at := typeIn{of, g.Namespace(id)}
			calls, is := known[at]
			if !is {
				calls = reader.Admission().Calls(ctx, h, writeTo(g, id, operation)) == admission.Always
				known[at] = calls
			}
			return calls
		}})
	}
	return all
}

// configOf is the configuration of a webhook.
func configOf(h admission.Webhook) graph.Ref {
	resource := admission.ValidatingWebhooks.Resource
	if h.Mutating() {
		resource = admission.MutatingWebhooks.Resource
	}
	return graph.Ref{APIVersion: h.Config.GetAPIVersion(), Kind: h.Config.GetKind(), Resource: resource,
		Name: h.Config.GetName()}
}

// conversionBackends are those of the webhooks that convert custom resources whenever the collector
// or the namespace controller reads them: these read the version that the server prefers, and
// another one is stored.
func conversionBackends(ctx context.Context, reader *cluster.Reader, g *graph.Graph) []backend {
	crds, err := reader.ListObjects(ctx, cluster.CRDs, "", cluster.Selection{})
	if err != nil {
		return nil
	}
	var all []backend
	for _, crd := range crds {
		s, _ := admission.Conversion(crd)
		if s.Name == "" {
			continue
		}
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		if t, served := reader.Lookup(schema.GroupResource{Group: group, Resource: plural}); !served ||
			t.Version == storageVersion(crd) {
			continue
		}
		config := graph.Ref{APIVersion: crd.GetAPIVersion(), Kind: crd.GetKind(), Resource: cluster.CRDs.Resource,
			Name: crd.GetName()}
		b := backend{Service: s, config: config, calls: func(id graph.ID) bool {
			ref := g.Ref(id)
			return ref.Group() == group && ref.Resource == plural
		}}
		all = append(all, b)
	}
	return all
}

// storageVersion is the version in which a CRD stores its objects.
func storageVersion(crd *unstructured.Unstructured) string {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, item := range versions {
		m, _ := item.(map[string]any)
		if storage, _, _ := unstructured.NestedBool(m, "storage"); storage {
			name, _, _ := unstructured.NestedString(m, "name")
			return name
		}
	}
	return ""
}
