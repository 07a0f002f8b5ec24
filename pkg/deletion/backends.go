package deletion

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
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
	set := deletedOf(p)
	if len(p.Blockers) == 0 || !slices.ContainsFunc(set.ids,
		func(id graph.ID) bool { return isOf(p.Graph.Ref(id), backendTypes) }) {
		return nil, nil
	}
	needs := plan.Needs{}
	for _, b := range slices.Concat(admissionBackends(ctx, reader, p.Graph, admissionv1.Update),
		conversionBackends(ctx, reader, p.Graph)) {
		if id, ok := p.Graph.Find(b.config.Group(), b.config.Resource, "", b.config.Name); ok && set.is[id] &&
			b.config.Resource != cluster.CRDs.Resource {
			continue // nothing is called then
		}
		part, ok := set.behind(ctx, reader, b.Service)
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
func (g deletedSet) behind(ctx context.Context, reader *cluster.Reader, b admission.Service) (graph.ID, bool) {
	if id, ok := g.service(b); ok {
		return id, true
	}
	workloads := g.workloads(ctx, reader, b)
	if len(workloads) == 0 {
		return 0, false
	}
	return workloads[0], true
}

// service is that of a backend, if it goes.
func (g deletedSet) service(b admission.Service) (graph.ID, bool) {
	id, ok := g.plan.Graph.Find("", cluster.Services.Resource, b.Namespace, b.Name)
	return id, ok && g.is[id]
}

// workloads are those that the Service of a backend selects, if all of them go.
func (g deletedSet) workloads(ctx context.Context, reader *cluster.Reader, b admission.Service) (ids []graph.ID) {
	service, err := reader.GetObject(ctx, cluster.Services, b.Namespace, b.Name)
	if err != nil || service == nil {
		return nil
	}
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return nil
	}
	for _, resource := range workloadTypes {
		all, err := reader.ListObjects(ctx, resource, b.Namespace, cluster.Selection{})
		if err != nil {
			return nil
		}
		for _, w := range all {
			pods, _, _ := unstructured.NestedStringMap(w.Object, "spec", "template", "metadata", "labels")
			if !labels.SelectorFromSet(selector).Matches(labels.Set(pods)) {
				continue
			}
			id, ok := g.plan.Graph.Find(resource.Group, resource.Resource, b.Namespace, w.GetName())
			if !ok || !g.is[id] || g.orphans[id] {
				return nil
			}
			ids = append(ids, id)
		}
	}
	return ids
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
		group := status.Nested(crd, "spec", "group")
		plural := status.Nested(crd, "spec", "names", "plural")
		if t, served := reader.Lookup(schema.GroupResource{Group: group, Resource: plural}); !served ||
			t.Version == status.StorageVersion(crd) {
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

// findUnanswered finds out which webhooks refuse what a plan needs, since nothing stands behind their
// Services: those with failurePolicy Fail that the server calls for each update or deletion of a
// type. Webhooks that go with the deletion are left out, and those that may not be listed. The error
// is the end of ctx.
func findUnanswered(ctx context.Context, reader *cluster.Reader, p *plan.Plan) (all []plan.Unanswered, err error) {
	behind := map[admission.Service]actor.Backend{}
	for _, of := range []struct {
		operation admissionv1.OperationType
		objects   func(*plan.Plan) []graph.ID
	}{{admissionv1.Update, updates}, {admissionv1.Delete, deletes}} {
		hooks := admissionBackends(ctx, reader, p.Graph, of.operation)
		if len(hooks) == 0 {
			break
		}
		places := byPlace(p.Graph, of.objects(p))
		for _, b := range hooks {
			id, listed := p.Graph.Find(b.config.Group(), b.config.Resource, "", b.config.Name)
			if _, goes := slices.BinarySearch(p.Deleted, id); listed && goes {
				continue
			}
			var called []graph.ID
			for _, ids := range places {
				if b.calls(ids[0]) {
					called = append(called, ids...)
				}
			}
			if _, seen := behind[b.Service]; !seen && len(called) > 0 {
				behind[b.Service] = actor.BackendOf(ctx, reader, b.Namespace, b.Name)
			}
			slices.Sort(called)
			u := plan.Unanswered{Config: b.config, Because: behind[b.Service].Why, Operation: string(of.operation),
				Objects: called}
			if len(called) > 0 && behind[b.Service].Down && !slices.ContainsFunc(all, u.Same) {
				all = append(all, u)
			}
		}
	}
	return all, context.Cause(ctx)
}

// byPlace are objects in groups of one type in one namespace: webhooks are matched once for each.
func byPlace(g *graph.Graph, ids []graph.ID) map[typeIn][]graph.ID {
	places := map[typeIn][]graph.ID{}
	for _, id := range ids {
		of, _ := g.Type(id)
		at := typeIn{of, g.Namespace(id)}
		places[at] = append(places[at], id)
	}
	return places
}

// updates are the objects of a plan whose finalizers or owner references have to be changed, sorted.
func updates(p *plan.Plan) []graph.ID {
	var ids []graph.ID
	for _, carriers := range []iter.Seq2[graph.ID, []string]{blockers(p), begun(p)} {
		for id, finalizers := range carriers {
			if len(finalizers) > 0 {
				ids = append(ids, id)
			}
		}
	}
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete && a.Verb != plan.VerbFinalizeNamespace {
			ids = append(ids, a.Object)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// deletes are the objects that a plan has deleted, sorted.
func deletes(p *plan.Plan) []graph.ID {
	var ids []graph.ID
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete {
			ids = append(ids, a.Object)
		}
	}
	slices.Sort(ids)
	return ids
}

// apisLost are the APIServices that lose what answers them with a plan, and what that means for the
// plan: which namespaces and which finalizers wait for them, and which objects nobody can delete
// any more.
type apisLost struct {
	services []v1alpha1.Unserved
	needs    plan.Needs
	refused  map[graph.ID]string
}

// findUnserved finds out which APIServices a plan leaves without what answers them, though it does
// not delete them. If they cannot be listed, nothing is said. The error is the end of ctx.
func findUnserved(ctx context.Context, reader *cluster.Reader, p *plan.Plan) (apisLost, error) {
	u := apisLost{needs: plan.Needs{}, refused: map[graph.ID]string{}}
	set := deletedOf(p)
	if !slices.ContainsFunc(set.ids, func(id graph.ID) bool { return isOf(p.Graph.Ref(id), backendTypes) }) {
		return u, nil
	}
	all, err := reader.ListObjects(ctx, cluster.APIServices, "", cluster.Selection{})
	if err != nil {
		return u, context.Cause(ctx)
	}
	namespaces := sync.OnceValue(func() []graph.ID { return lasting(p) })
	for _, o := range all {
		b, calls := admission.APIService(o)
		id, listed := p.Graph.Find(cluster.APIServices.Group, cluster.APIServices.Resource, "", o.GetName())
		if _, goes := slices.BinarySearch(p.Deleted, id); !calls || listed && goes {
			continue
		}
		if part, goes := set.behind(ctx, reader, b); goes {
			u.add(p, o, part, namespaces())
		}
	}
	return u, context.Cause(ctx)
}

// add adds what waits for an APIService whose backend goes, and who cannot be deleted without it.
func (u *apisLost) add(p *plan.Plan, o *unstructured.Unstructured, part graph.ID, namespaces []graph.ID) {
	service := v1alpha1.Unserved{APIService: graph.RefOf(o), Backend: p.Graph.Ref(part)}
	service.APIService.Resource = cluster.APIServices.Resource
	for _, id := range namespaces {
		service.Namespaces = append(service.Namespaces, p.Graph.Ref(id))
		u.needs[id] = append(u.needs[id], plan.Removers{{part}})
	}
	u.services = append(u.services, service)
	gv := schema.GroupVersion{Group: status.Nested(o, "spec", "group"), Version: status.Nested(o, "spec", "version")}
	serves := func(id graph.ID) bool {
		t, ok := p.Graph.Type(id)
		return ok && t.Group == gv.Group && t.Version == gv.Version
	}
	for _, b := range p.Blockers {
		if serves(b.Object) {
			u.needs[b.Object] = append(u.needs[b.Object], plan.Removers{{part}})
		}
	}
	message := fmt.Sprintf("without %s, %s has no backend", service.Backend.Located(), service.APIService.Located())
	for _, a := range p.Actions { // the requests of this command are sent before
		if a.Verb == plan.VerbDelete && a.By != plan.ByClient && serves(a.Object) {
			u.refused[a.Object] = message
		}
	}
}

// lasting are the namespaces that a plan deletes and that the namespace controller does not finish
// at once.
func lasting(p *plan.Plan) []graph.ID {
	var all []graph.ID
	rounds := plan.TakesRounds(p.Graph)
	for _, id := range deletedOf(p).ids {
		ref := p.Graph.Ref(id)
		if ref.Group() == "" && ref.Resource == cluster.Namespaces.Resource && rounds[ref.Name] {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}
