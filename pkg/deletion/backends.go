package deletion

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// backend is a Service that the API server calls when objects of some types are updated: finalizers cannot be removed from these once nothing answers there.
type backend struct {
	namespace, name string
	// config is the object that names it, which does not go, or goes later.
	config graph.Ref
	calls  func(graph.Ref) bool
}

// backendTypes are the types of what answers.
var backendTypes = []schema.GroupResource{cluster.Services, cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets}

// findBackends finds out which objects with finalizers nobody can update any more, because a webhook is called for each update, and what answers it goes with the deletion: an
// admission webhook with failurePolicy Fail that selects nothing further, or the webhook that converts the type. The error is the end of ctx.
func findBackends(ctx context.Context, reader *cluster.Reader, p *plan.Plan) (plan.Needs, error) {
	going := goingOf(p)
	if len(p.Blockers) == 0 || !slices.ContainsFunc(going.ids, func(id graph.ID) bool { return isOf(p.Graph.Ref(id), backendTypes) }) {
		return nil, nil
	}
	needs := plan.Needs{}
	for _, b := range append(admissionBackends(ctx, reader), conversionBackends(ctx, reader)...) {
		if id, ok := p.Graph.Find(b.config.Group(), b.config.Resource, "", b.config.Name); ok && going.is[id] && b.config.Resource != cluster.CRDs.Resource {
			continue // whatever is called then is nobody's business
		}
		part, ok := going.behind(ctx, reader, b)
		if !ok {
			continue
		}
		for _, blocker := range p.Blockers {
			if len(blocker.Finalizers) > 0 && b.calls(p.Graph.Ref(blocker.Object)) {
				needs[blocker.Object] = append(needs[blocker.Object], plan.Removers{{part}})
			}
		}
	}
	return needs, context.Cause(ctx)
}

// behind returns what goes of a backend, so that nothing answers there: the Service, or each workload that it selects.
func (g going) behind(ctx context.Context, reader *cluster.Reader, b backend) (graph.ID, bool) {
	if id, ok := g.plan.Graph.Find("", cluster.Services.Resource, b.namespace, b.name); ok && g.is[id] {
		return id, true
	}
	service, err := reader.GetObject(ctx, cluster.Services, b.namespace, b.name)
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
		all, err := reader.ListObjects(ctx, resource, b.namespace, cluster.Selection{})
		if err != nil {
			return 0, false
		}
		for _, w := range all {
			pods, _, _ := unstructured.NestedStringMap(w.Object, "spec", "template", "metadata", "labels")
			if !labels.SelectorFromSet(selector).Matches(labels.Set(pods)) {
				continue
			}
			id, ok := g.plan.Graph.Find(resource.Group, resource.Resource, b.namespace, w.GetName())
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

// admissionBackends are those of the webhooks that have to admit each update of objects of some types.
func admissionBackends(ctx context.Context, reader *cluster.Reader) []backend {
	var all []backend
	for _, resource := range []schema.GroupResource{cluster.ValidatingWebhooks, cluster.MutatingWebhooks} {
		configs, err := reader.ListObjects(ctx, resource, "", cluster.Selection{})
		if err != nil {
			continue // which the wait tells
		}
		for _, config := range configs {
			hooks, _, _ := unstructured.NestedSlice(config.Object, "webhooks")
			for _, item := range hooks {
				hook, _ := item.(map[string]any)
				if b, ok := backendIn(hook, "clientConfig", "service"); ok && admitsAlways(hook) {
					b.config = graph.Ref{APIVersion: config.GetAPIVersion(), Kind: config.GetKind(), Resource: resource.Resource, Name: config.GetName()}
					rules, _, _ := unstructured.NestedSlice(hook, "rules")
					b.calls = func(ref graph.Ref) bool {
						return slices.ContainsFunc(rules, func(rule any) bool { return about(rule, "UPDATE", ref.Group(), ref.Resource) })
					}
					all = append(all, b)
				}
			}
		}
	}
	return all
}

// admitsAlways says whether nothing passes without the webhook, and nothing but its rules says what it is called for.
func admitsAlways(hook map[string]any) bool {
	policy, said, _ := unstructured.NestedString(hook, "failurePolicy")
	for _, key := range []string{"namespaceSelector", "objectSelector"} {
		selector, _, _ := unstructured.NestedMap(hook, key)
		if len(selector) > 0 {
			return false
		}
	}
	conditions, _, _ := unstructured.NestedSlice(hook, "matchConditions")
	return (!said || policy == "Fail") && len(conditions) == 0
}

// conversionBackends are those of the webhooks that convert custom resources whenever the collector or the namespace controller reads them: these read the version that the server
// prefers, and another one is stored.
func conversionBackends(ctx context.Context, reader *cluster.Reader) []backend {
	crds, err := reader.ListObjects(ctx, cluster.CRDs, "", cluster.Selection{})
	if err != nil {
		return nil
	}
	var all []backend
	for _, crd := range crds {
		b, ok := backendIn(crd.Object, "spec", "conversion", "webhook", "clientConfig", "service")
		if !ok {
			continue
		}
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		if t, served := reader.Lookup(schema.GroupResource{Group: group, Resource: plural}); !served || t.Version == storageVersion(crd) {
			continue
		}
		b.config = graph.Ref{APIVersion: crd.GetAPIVersion(), Kind: crd.GetKind(), Resource: cluster.CRDs.Resource, Name: crd.GetName()}
		b.calls = func(ref graph.Ref) bool { return ref.Group() == group && ref.Resource == plural }
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

// backendIn is the Service that a field names.
func backendIn(object map[string]any, path ...string) (backend, bool) {
	service, ok, _ := unstructured.NestedMap(object, path...)
	namespace, _, _ := unstructured.NestedString(service, "namespace")
	name, _, _ := unstructured.NestedString(service, "name")
	return backend{namespace: namespace, name: name}, ok && name != ""
}
