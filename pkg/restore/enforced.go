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
