package restore

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// nobody is the uid of an owner that is not there yet. The plugin looks at the kind alone.
const nobody = "00000000-0000-4000-8000-000000000000"

// enforcements are the rights that the plugin can ask for, each with a dry run of a write for which
// it does.
func (p *Plan) enforcements(client *cluster.Client, catalog *cluster.Catalog) []change.Enforcement {
	var all []change.Enforcement
	asked := map[cluster.Access]bool{}
	add := func(access cluster.Access, try func(context.Context) error) {
		if !asked[access] {
			asked[access] = true
			all = append(all, change.Enforcement{Access: access, Try: try})
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Verb == Refer {
			access := cluster.Access{Verb: "delete", Type: s.Type, Namespace: s.Object.Namespace, Name: s.Object.Name}
			add(access, func(ctx context.Context) error { return probePatch(ctx, client, s) })
		}
		for _, ref := range slices.Concat(s.References, s.Late) {
			t, served := catalog.Kind(ref.APIVersion, ref.Kind)
			if !served || ref.BlockOwnerDeletion == nil || !*ref.BlockOwnerDeletion || s.Object.Namespace == "" {
				continue
			}
			access := cluster.Access{Verb: "update", Type: t, Subresource: "finalizers", Namespace: s.Object.Namespace}
			add(access, func(ctx context.Context) error {
				return probeCreate(ctx, client, catalog, s.Object.Namespace, ref.OwnerReference)
			})
		}
	}
	return all
}

// probeCreate creates a ConfigMap with a reference, in a dry run.
func probeCreate(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, namespace string,
	ref metav1.OwnerReference) error {
	t, served := catalog.Lookup(schema.GroupResource{Resource: "configmaps"})
	if !served {
		return nil
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("ConfigMap")
	o.SetGenerateName("kubectl-gc-probe-")
	ref.UID = nobody
	o.SetOwnerReferences([]metav1.OwnerReference{ref})
	_, err := client.Create(ctx, t.Type, namespace, o, cluster.WriteOptions{DryRun: true})
	return err
}

// probePatch adds the references of a step to its object, in a dry run.
func probePatch(ctx context.Context, client *cluster.Client, s *Step) error {
	o := change.Object{Server: client, Type: s.Type, Ref: s.Object}
	now, err := o.Read(ctx)
	if err != nil {
		return err
	}
	ref := s.References[0].OwnerReference
	ref.UID = nobody
	_, err = o.Send(ctx, "", additions(now, s.References[:1], []metav1.OwnerReference{ref}),
		cluster.PatchOptions{DryRun: true})
	return err
}
