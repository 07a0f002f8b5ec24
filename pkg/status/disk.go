package status

import (
	"fmt"
	"slices"
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

// named are the annotations in which a controller keeps the name of what an object stands for.
var named = []string{
	"crossplane.io/external-name",
	"serviceoperator.azure.com/resource-id",
	"cnrm.cloud.google.com/resource-id",
}

// Outside says what an object stands for outside the cluster, as far as the object names it: what
// is left there if its finalizer is removed, and can then be found no more. The clauses hold text
// that the object supplies.
func Outside(o *unstructured.Unstructured) []string {
	var all []string
	annotations := o.GetAnnotations()
	for _, key := range named {
		if name := annotations[key]; name != "" {
			all = append(all, fmt.Sprintf("annotation %s names %s", key, name))
		}
	}
	if handle := Nested(o, "spec", "csi", "volumeHandle"); handle != "" {
		all = append(all, fmt.Sprintf("its volume is %s of %s", handle, Nested(o, "spec", "csi", "driver")))
	}
	for _, path := range [][]string{{"spec", "providerID"}, {"status", "providerID"},
		{"status", "ackResourceMetadata", "arn"}, {"status", "resourceID"}, {"status", "externalID"}} {
		if id := Nested(o, path...); id != "" {
			all = append(all, fmt.Sprintf("%s.%s is %s", path[0], path[len(path)-1], id))
		}
	}
	for _, address := range balancers(o) {
		all = append(all, "its load balancer is "+address)
	}
	return all
}

// balancers are the addresses of a Service's or an Ingress's load balancers.
func balancers(o *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "loadBalancer", "ingress")
	var all []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		for _, key := range []string{"hostname", "ip"} {
			if address := Text(m, key); address != "" && !slices.Contains(all, address) {
				all = append(all, address)
			}
		}
	}
	return all
}
