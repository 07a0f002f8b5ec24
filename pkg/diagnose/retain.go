package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// mostRetained is up to how many volumes a command names.
const mostRetained = 20

// retaining is what keeps the data behind a volume when its claim is deleted.
const retaining = `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`

// retain are the steps that keep disks: one for each of a few, and otherwise one for many.
func retain(disks []v1alpha1.Disk) []step {
	var steps []step
	if len(disks) <= phrase.MaxNamed {
		for _, d := range disks {
			steps = append(steps, fixedCommand("kubectl", "patch", "pv", d.Volume.Name, "-p", retaining).
				doing("keeps the disk of "+diskName(d)+" when it is released").risking(finalizer.RiskNone))
		}
		return steps
	}
	for len(disks) > 0 {
		n := min(len(disks), mostRetained)
		names := []string{"kubectl", "patch", "pv"}
		for _, d := range disks[:n] {
			names = append(names, d.Volume.Name)
		}
		steps = append(steps, fixedCommand(append(names, "-p", retaining)...).
			doing(fmt.Sprintf("keeps the disks of %s when they are released", phrase.Count(n, "PersistentVolume"))).risking(finalizer.RiskNone))
		disks = disks[n:]
	}
	return steps
}

// destroyed are the observations that disks are destroyed. Of many the first few are named.
func destroyed(disks []v1alpha1.Disk) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for i, d := range disks {
		if i == phrase.MaxNamed {
			return append(all, observed(fmt.Sprintf("so are those of %d more PersistentVolumes", len(disks)-i))...)
		}
		says := fmt.Sprintf("the disk of %s is destroyed when it is released: its reclaim policy is %s", diskName(d), d.ReclaimPolicy)
		all = append(all, observedAt("PersistentVolume "+d.Volume.Name+" spec.persistentVolumeReclaimPolicy", says)...)
	}
	return all
}

// lost says in a sentence what is destroyed.
func lost(disks []v1alpha1.Disk) string {
	names := make([]string, len(disks))
	for i, d := range disks {
		names[i] = d.Volume.Name
	}
	return fmt.Sprintf("Data are destroyed: the %s of PersistentVolume %s.", phrase.Plural(len(disks), "disk", "disks"), phrase.And(names))
}

// diskName names a volume with what a person knows it by.
func diskName(d v1alpha1.Disk) string {
	var known []string
	if d.Claim != nil {
		known = append(known, "PersistentVolumeClaim "+d.Claim.Namespace+"/"+d.Claim.Name)
	}
	if d.Capacity != "" {
		known = append(known, d.Capacity)
	}
	if len(known) == 0 {
		return "PersistentVolume " + d.Volume.Name
	}
	return fmt.Sprintf("PersistentVolume %s (%s)", d.Volume.Name, strings.Join(known, ", "))
}

// sentences puts sentences behind one another.
func sentences(all ...string) string {
	return strings.TrimSpace(strings.Join(all, " "))
}
