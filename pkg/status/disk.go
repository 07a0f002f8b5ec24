package status

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
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

// MostRetained is up to how many volumes one command names.
const MostRetained = 20

// Retaining is the patch that keeps the data behind a volume when its claim is deleted.
const Retaining = `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`

// DiskName names a volume with what a person knows it by.
func DiskName(d v1alpha1.Disk) string {
	var known []string
	if d.Claim != nil {
		known = append(known, "PersistentVolumeClaim "+d.Claim.Namespace+"/"+d.Claim.Name)
	}
	if d.Capacity != "" {
		known = append(known, d.Capacity)
	}
	return fmt.Sprintf("%s (%s)", d.Volume.Name, strings.Join(append(known, "reclaim policy "+d.ReclaimPolicy), ", "))
}

// Destroys is a clause without its subject that says that the data of volumes are destroyed. Of
// many the first few are named.
func Destroys(disks []v1alpha1.Disk) string {
	return fmt.Sprintf("destroys the %s of %s: %s", phrase.Plural(len(disks), "disk", "disks"),
		phrase.Count(len(disks), "PersistentVolume"), phrase.And(phrase.Words(disks, DiskName)))
}

// KeepDisks is a clause that says how to keep the data of volumes.
func KeepDisks(disks []v1alpha1.Disk) string {
	if len(disks) > MostRetained {
		return "to keep the disks, set the reclaim policy of the volumes to Retain first; -o json names them all"
	}
	words := []string{"kubectl", "patch", "pv"}
	for _, d := range disks {
		words = append(words, d.Volume.Name) // a server accepts none that begins with a dash
	}
	return fmt.Sprintf("to keep %s, run first: %s", phrase.Plural(len(disks), "the disk", "the disks"),
		phrase.Command(append(words, "-p", Retaining)...))
}
