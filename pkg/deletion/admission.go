package deletion

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostAskedFirst is about how many deletes of others the server is asked before a deletion, which is to begin soon.
const mostAskedFirst = 500

// admission asks the server, before a deletion that is not only a preview, whether it refuses what others delete, if there is a policy or a webhook that is about the deletion of
// such objects. Where they may not be listed, nobody is asked: the wait tells.
func (pl *planner) admission(ctx context.Context, reader *cluster.Reader, p *Planned) error {
	if !pl.request.AskServer {
		return nil
	}
	types := map[schema.GroupResource]bool{}
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete && a.By != plan.ByClient {
			r := p.Graph.Ref(a.Object)
			types[schema.GroupResource{Group: r.Group(), Resource: r.Resource}] = true
		}
	}
	if len(types) == 0 {
		return nil
	}
	for resource, path := range map[schema.GroupResource][]string{cluster.ValidatingWebhooks: {"webhooks"}, cluster.ValidatingPolicies: {"spec", "matchConstraints"}} {
		all, err := reader.ListObjects(ctx, resource, "", cluster.Selection{})
		if err != nil {
			continue
		}
		for _, o := range all {
			if refusesDeletesOf(o, path, types) {
				p.ask(ctx, mostAskedFirst)
				return context.Cause(ctx)
			}
		}
	}
	return context.Cause(ctx)
}

// refusesDeletesOf says whether a webhook configuration or a policy is about the deletion of objects of one of some types.
func refusesDeletesOf(o *unstructured.Unstructured, path []string, types map[schema.GroupResource]bool) bool {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	items, many := value.([]any)
	if !many {
		items = []any{value}
	}
	for _, item := range items {
		m, _ := item.(map[string]any)
		for _, key := range []string{"rules", "resourceRules"} {
			rules, _ := m[key].([]any)
			if slices.ContainsFunc(rules, func(rule any) bool { return aboutDeletes(rule, types) }) {
				return true
			}
		}
	}
	return false
}

// aboutDeletes says whether a rule of admission is about the deletion of objects of one of some types.
func aboutDeletes(rule any, types map[schema.GroupResource]bool) bool {
	for t := range types {
		if about(rule, "DELETE", t.Group, t.Resource) {
			return true
		}
	}
	return false
}

// about says whether a rule of admission is about an operation on objects of a type.
func about(rule any, operation, group, resource string) bool {
	m, _ := rule.(map[string]any)
	has := func(key string, names ...string) bool {
		list, _, _ := unstructured.NestedStringSlice(m, key)
		return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(names, s) })
	}
	return has("operations", operation, "*") && has("apiGroups", group, "*") && has("resources", resource, "*", "*/*")
}

// ask asks the server about up to so many deletes of others, and plans with what it refuses.
func (p *Planned) ask(ctx context.Context, most int) {
	asked := act.Ask(ctx, p.planner.client, p.Plan, most)
	p.Asked = &asked
	var refused []plan.Refusal
	for _, r := range asked.Refused {
		refused = append(refused, plan.Refusal{Object: r.Action.Object, Message: r.Err.Error()})
	}
	p.Plan = p.Without(refused)
	if len(refused) > 0 {
		p.Plan = p.With(p.needs)
	}
}
