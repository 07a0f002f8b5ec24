package restore

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// waves say which kinds are created before and after the others: what others need to be created at
// all, and last what stands in their way.
var waves = map[schema.GroupKind]int{
	kindDefinition: 0, kindNamespace: 0,
	kindAccount: 1, {Kind: "Secret"}: 1, kindConfigMap: 1, kindVolume: 1,
	{Group: "storage.k8s.io", Kind: "StorageClass"}: 1, {Group: "scheduling.k8s.io", Kind: "PriorityClass"}: 1,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:              1,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: 1, {Group: "rbac.authorization.k8s.io", Kind: "Role"}: 1,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: 1,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        1,
	kindClaim: 2, kindService: 2,
	{Kind: "ResourceQuota"}: 4, {Kind: "LimitRange"}: 4, {Group: "policy", Kind: "PodDisruptionBudget"}: 4,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     5,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   5,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        5,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: 5,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          5,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   5,
}

// anyWave is that of all other kinds, and lastWave the last.
const anyWave, lastWave = 3, 5

// wavesOf says when each object is created: never before its owners, however its kind stands.
func wavesOf(x *index, created func(*item) bool) []int {
	of := make([]int, len(x.items))
	for i, it := range x.items { // owners stand before their dependents, but for those of a cycle
		wave, special := waves[it.kind()]
		if !special {
			wave = anyWave
		}
		for _, r := range it.owners {
			if owner := x.byUID[string(r.UID)]; owner != nil && owner.number < i && created(owner) {
				wave = max(wave, of[owner.number])
			}
		}
		of[i] = wave
	}
	return of
}

// isBefore says whether an object is created before another.
func isBefore(waves []int, a, b *item) bool {
	if waves[a.number] != waves[b.number] {
		return waves[a.number] < waves[b.number]
	}
	return a.number < b.number
}

// preflight asks the server for the rights that the steps need, before the first of them.
func (p *Plan) preflight(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) error {
	var accesses []cluster.Access
	asked := map[cluster.Access]bool{}
	add := func(s *Step, verb, subresource string) {
		a := cluster.Access{Verb: verb, Type: s.Type, Subresource: subresource, Namespace: s.Object.Namespace,
			Name: s.Object.Name}
		if verb == "create" {
			a.Name = "" // which no authorizer is told
		}
		if !asked[a] {
			asked[a] = true
			accesses = append(accesses, a)
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Verb == Create {
			add(s, "create", "")
		}
		if s.Verb != Create && s.Verb != SetStatus || len(s.Late) > 0 {
			add(s, "patch", "")
		}
		if p.writesStatus(s) {
			add(s, "update", "status")
		}
	}
	for _, missing := range change.Denied(ctx, client, accesses) {
		p.Forbidden = append(p.Forbidden, missing)
	}
	p.Forbidden = append(p.Forbidden, change.Enforced(ctx, client, p.enforcements(client, catalog))...)
	return context.Cause(ctx)
}

// writesStatus says whether a step writes the status of its object.
func (p *Plan) writesStatus(s *Step) bool {
	return s.Verb == SetStatus || p.opts.Status && s.Verb == Create && s.item.facts.status
}
