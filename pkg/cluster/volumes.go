package cluster

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// fewClaims is up to how many claims and their volumes are read one by one. For more than that, all volumes are listed once.
const fewClaims = 16

// Volumes returns the PersistentVolumes that are bound to claims, by the uids of the claims. A claim without one is left out; of those in failed it is not known.
// Expected is how many claims are asked about in all, if it is more than these.
func (r *Reader) Volumes(ctx context.Context, claims []graph.Ref, expected int) (bound map[string]*unstructured.Unstructured, failed map[string]error) {
	if max(len(claims), expected) > fewClaims {
		return r.listVolumes(ctx, claims)
	}
	bound, failed = map[string]*unstructured.Unstructured{}, map[string]error{}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(r.client.concurrency)
	for _, claim := range claims {
		group.Go(func() error {
			volume, err := r.volume(ctx, claim)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed[claim.UID] = err
			case volume != nil:
				bound[claim.UID] = volume
			}
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return bound, failed
}

// Volume returns a PersistentVolume, nil if it is proven to be absent or another one has its name.
func (r *Reader) Volume(ctx context.Context, ref graph.Ref) (*unstructured.Unstructured, error) {
	volume, err := r.Get(ctx, PersistentVolumes, "", ref.Name)
	if volume == nil || string(volume.GetUID()) != ref.UID {
		return nil, err
	}
	return volume, nil
}

// volume returns the volume of one claim, nil if it has none.
func (r *Reader) volume(ctx context.Context, ref graph.Ref) (*unstructured.Unstructured, error) {
	claim, err := r.Get(ctx, PVCs, ref.Namespace, ref.Name)
	if claim == nil || string(claim.GetUID()) != ref.UID {
		return nil, err
	}
	name, _, _ := unstructured.NestedString(claim.Object, "spec", "volumeName")
	if name == "" {
		return nil, nil
	}
	volume, err := r.Get(ctx, PersistentVolumes, "", name)
	if volume == nil || !isOf(volume, ref) {
		return nil, err
	}
	return volume, nil
}

// listVolumes finds the volumes of many claims among all there are.
func (r *Reader) listVolumes(ctx context.Context, claims []graph.Ref) (bound map[string]*unstructured.Unstructured, failed map[string]error) {
	bound, failed = map[string]*unstructured.Unstructured{}, map[string]error{}
	all, err := r.List(ctx, PersistentVolumes, "", Selection{})
	of := map[[2]string]*unstructured.Unstructured{}
	for _, volume := range all {
		namespace, name, _ := claimOf(volume)
		of[[2]string{namespace, name}] = volume
	}
	for _, claim := range claims {
		switch volume := of[[2]string{claim.Namespace, claim.Name}]; {
		case err != nil:
			failed[claim.UID] = err
		case volume != nil && isOf(volume, claim):
			bound[claim.UID] = volume
		}
	}
	return bound, failed
}

// isOf says whether a volume is bound to a claim, or is to be: the controller has the uid come later.
func isOf(volume *unstructured.Unstructured, claim graph.Ref) bool {
	namespace, name, uid := claimOf(volume)
	return namespace == claim.Namespace && name == claim.Name && (uid == "" || uid == claim.UID)
}

// claimOf is the claim that a volume names.
func claimOf(volume *unstructured.Unstructured) (namespace, name, uid string) {
	ref, _, _ := unstructured.NestedStringMap(volume.Object, "spec", "claimRef")
	return ref["namespace"], ref["name"], ref["uid"]
}
