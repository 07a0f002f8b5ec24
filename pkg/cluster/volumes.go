package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// fewPVCs is up to how many PVCs and their volumes are read one by one. For more than that, all
// volumes are listed once.
const fewPVCs = 16

// Volumes returns the PersistentVolumes that are bound to PVCs, by the uids of the PVCs. A PVC
// without one is left out; of those in failed it is not known. Expected is how many PVCs are asked
// about in all, if it is more than these.
func (r *Reader) Volumes(ctx context.Context, pvcs []graph.Ref,
	expected int) (bound map[string]*unstructured.Unstructured, failed map[string]error) {
	if max(len(pvcs), expected) > fewPVCs {
		return r.listVolumes(ctx, pvcs)
	}
	bound, failed = map[string]*unstructured.Unstructured{}, map[string]error{}
	var mu sync.Mutex
	Each(r.client, pvcs, func(_ int, pvc graph.Ref) {
		volume, err := r.volume(ctx, pvc)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed[pvc.UID] = err
		case volume != nil:
			bound[pvc.UID] = volume
		}
	})
	return bound, failed
}

// Volume returns a PersistentVolume, nil if it is proven to be absent or another one has its name.
func (r *Reader) Volume(ctx context.Context, ref graph.Ref) (*unstructured.Unstructured, error) {
	volume, err := r.GetObject(ctx, PersistentVolumes, "", ref.Name)
	if volume == nil || string(volume.GetUID()) != ref.UID {
		return nil, err
	}
	return volume, nil
}

// volume returns the volume of one claim, nil if it has none.
func (r *Reader) volume(ctx context.Context, ref graph.Ref) (*unstructured.Unstructured, error) {
	pvc, err := r.GetObject(ctx, PVCs, ref.Namespace, ref.Name)
	if pvc == nil || string(pvc.GetUID()) != ref.UID {
		return nil, err
	}
	name, _, _ := unstructured.NestedString(pvc.Object, "spec", "volumeName")
	if name == "" {
		return nil, nil
	}
	volume, err := r.GetObject(ctx, PersistentVolumes, "", name)
	if volume == nil || !isOf(volume, ref) {
		return nil, err
	}
	return volume, nil
}

// listVolumes finds the volumes of many PVCs among all there are.
func (r *Reader) listVolumes(ctx context.Context, pvcs []graph.Ref) (bound map[string]*unstructured.Unstructured,
	failed map[string]error) {
	bound, failed = map[string]*unstructured.Unstructured{}, map[string]error{}
	all, err := r.ListObjects(ctx, PersistentVolumes, "", Selection{})
	of := map[[2]string]*unstructured.Unstructured{}
	for _, volume := range all {
		namespace, name, _ := pvcOf(volume)
		of[[2]string{namespace, name}] = volume
	}
	for _, pvc := range pvcs {
		switch volume := of[[2]string{pvc.Namespace, pvc.Name}]; {
		case err != nil:
			failed[pvc.UID] = err
		case volume != nil && isOf(volume, pvc):
			bound[pvc.UID] = volume
		}
	}
	return bound, failed
}

// isOf says whether a volume is bound to a PVC, or is to be: the controller has the uid come later.
func isOf(volume *unstructured.Unstructured, pvc graph.Ref) bool {
	namespace, name, uid := pvcOf(volume)
	return namespace == pvc.Namespace && name == pvc.Name && (uid == "" || uid == pvc.UID)
}

// pvcOf is the PVC that a volume names.
func pvcOf(volume *unstructured.Unstructured) (namespace, name, uid string) {
	ref, _, _ := unstructured.NestedStringMap(volume.Object, "spec", "claimRef")
	return ref["namespace"], ref["name"], ref["uid"]
}
