package unfinalize

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// needData refuses what ends in the destruction of disks: of an object that goes with this, or of what follows it.
func (v *Verdict) needData(o *unstructured.Unstructured, names []string, f Facts) {
	if f.After == nil || !released(o, names) {
		return
	}
	if n := len(f.After.Disks); n > 0 {
		v.refuse(DataLoss, WithForce, Destroys(f.After.Disks), keeping(f.After.Disks))
	}
	if n := len(f.After.Unread); n > 0 {
		v.refuse(DataLoss, WithForce, fmt.Sprintf("%s would be deleted, and whether %s destroyed is not known: %v",
			phrase.Count(n, "PersistentVolumeClaim"), phrase.Plural(n, "its disk is", "their disks are"), f.After.Why), "")
	}
}

// Destroys says that the data of volumes are destroyed.
func Destroys(disks []v1alpha1.Disk) string {
	var names []string
	for _, d := range disks {
		names = append(names, nameOf(d))
	}
	return fmt.Sprintf("it destroys the %s of %s: %s", phrase.Plural(len(disks), "disk", "disks"), phrase.Count(len(disks), "PersistentVolume"), phrase.And(names))
}

// nameOf names a volume with what a person knows it by.
func nameOf(d v1alpha1.Disk) string {
	s := d.Volume.Name + " ("
	if d.Claim != nil {
		s += fmt.Sprintf("PersistentVolumeClaim %s/%s, ", d.Claim.Namespace, d.Claim.Name)
	}
	if d.Capacity != "" {
		s += d.Capacity + ", "
	}
	return s + "reclaim policy " + d.ReclaimPolicy + ")"
}

// mostRetained is up to how many volumes a command names.
const mostRetained = 20

// keeping says how to keep disks.
func keeping(disks []v1alpha1.Disk) string {
	if len(disks) > mostRetained {
		return "to keep the disks, set the reclaim policy of the volumes to Retain first; -o json names them all"
	}
	return "to keep " + phrase.Plural(len(disks), "the disk", "the disks") + ", run first: " + Retain(disks)
}

// Retain is the command that keeps the disks of volumes when their claims are deleted.
func Retain(disks []v1alpha1.Disk) string {
	command := "kubectl patch pv"
	for _, d := range disks {
		command += " " + d.Volume.Name // whose names are those of a DNS subdomain
	}
	return command + ` -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`
}
