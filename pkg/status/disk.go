package status

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Disk describes a PersistentVolume, which has to be whole.
func Disk(volume *unstructured.Unstructured) v1alpha1.Disk {
	d := v1alpha1.Disk{
		Volume: v1alpha1.ObjectRef{
			APIVersion: volume.GetAPIVersion(), Kind: volume.GetKind(), Resource: "persistentvolumes", Name: volume.GetName(),
			UID: string(volume.GetUID()),
		},
		Capacity:      Nested(volume, "spec", "capacity", "storage"),
		StorageClass:  Nested(volume, "spec", "storageClassName"),
		ReclaimPolicy: Nested(volume, "spec", "persistentVolumeReclaimPolicy"),
		Driver:        Nested(volume, "spec", "csi", "driver"), Handle: Nested(volume, "spec", "csi", "volumeHandle"),
	}
	if name := Nested(volume, "spec", "claimRef", "name"); name != "" {
		d.Claim = &v1alpha1.ObjectRef{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Resource: "persistentvolumeclaims",
			Namespace: Nested(volume, "spec", "claimRef", "namespace"), Name: name,
			UID: Nested(volume, "spec", "claimRef", "uid"),
		}
	}
	return d
}
