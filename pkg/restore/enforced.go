package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// The admission plugin OwnerReferencesPermissionEnforcement (API-037) takes a reference that blocks only from who may update the finalizers of the owner, and a change of
// the references of an object that is there only from who may delete it. Whether a server has the plugin cannot be asked. Where the user lacks such a right, a dry run tells.

// nobody is the uid of an owner that is not there yet. The plugin looks at the kind alone.
const nobody = "00000000-0000-4000-8000-000000000000"

// probes are the accesses that the plugin asks for, each with a dry run of a write for which it does.
func (p *Plan) probes(client *cluster.Client, catalog *cluster.Catalog) map[cluster.Access]func(context.Context) error {
	all := map[cluster.Access]func(context.Context) error{}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, ref := range slices.Concat(s.References, s.Late) {
			t, served := catalog.Kind(ref.APIVersion, ref.Kind)
			if !served || ref.BlockOwnerDeletion == nil || !*ref.BlockOwnerDeletion || s.Object.Namespace == "" {
				continue
			}
			access := cluster.Access{Verb: "update", Type: t, Subresource: "finalizers", Namespace: s.Object.Namespace}
			all[access] = func(ctx context.Context) error {
				return probeCreate(ctx, client, catalog, s.Object.Namespace, ref.OwnerReference)
			}
		}
		if s.Verb == Refer {
			access := cluster.Access{Verb: "delete", Type: s.Type, Namespace: s.Object.Namespace, Name: s.Object.Name}
			all[access] = func(ctx context.Context) error { return probePatch(ctx, client, s) }
		}
	}
	return all
}

// enforced are the rights that the plugin is seen to ask for and the user does not have.
func (p *Plan) enforced(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) []Forbidden {
	probes := p.probes(client, catalog)
	accesses := make([]cluster.Access, 0, len(probes))
	for access := range probes {
		accesses = append(accesses, access)
	}
	slices.SortFunc(accesses, func(a, b cluster.Access) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	reviews := client.Reviews().Ask(ctx, accesses)
	refused := make([]bool, len(accesses))
	var group errgroup.Group
	group.SetLimit(client.Concurrency())
	for i, access := range accesses {
		if reviews[i].Permission == cluster.Denied {
			group.Go(func() error {
				err := probes[access](ctx)
				refused[i] = apierrors.IsForbidden(err) && (strings.Contains(err.Error(), "blockOwnerDeletion") || strings.Contains(err.Error(), "ownerRef"))
				return nil
			})
		}
	}
	_ = group.Wait() // each answer is in its place
	var all []Forbidden
	for i, access := range accesses {
		if refused[i] {
			all = append(all, Forbidden{access, reviews[i].Reason})
		}
	}
	return all
}

// probeCreate creates a ConfigMap with a reference, in a dry run.
func probeCreate(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, namespace string, ref metav1.OwnerReference) error {
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
	now := lookAt(ctx, client, target{s.Type, s.Object.Namespace, s.Object.Name})
	var references []metav1.OwnerReference
	for _, ref := range s.References {
		out := ref.OwnerReference
		out.UID = nobody
		references = append(references, out)
	}
	steps := additions(now, s.References[:1], references[:1])
	_, err := client.Patch(ctx, s.Type, s.Object.Namespace, s.Object.Name, append(cluster.Unchanged(s.Object.UID, ""), steps...), cluster.PatchOptions{DryRun: true})
	return err
}
