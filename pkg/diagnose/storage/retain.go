package storage

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// retain are the steps that keep disks: one for each of a few, and otherwise one for many.
func retain(disks []v1alpha1.Disk) []core.Step {
	var steps []core.Step
	if len(disks) <= phrase.MaxNamed {
		for _, d := range disks {
			steps = append(steps, core.FixedCommand("kubectl", "patch", "pv", d.Volume.Name, "-p", status.Retaining).
				Safely("keeps the disk of PersistentVolume "+d.Volume.Name+" when it is released"))
		}
		return steps
	}
	for len(disks) > 0 {
		n := min(len(disks), status.MostRetained)
		names := []string{"kubectl", "patch", "pv"}
		for _, d := range disks[:n] {
			names = append(names, d.Volume.Name)
		}
		steps = append(steps, core.FixedCommand(append(names, "-p", status.Retaining)...).
			Safely(fmt.Sprintf("keeps the disks of %s when they are released", phrase.Count(n, "PersistentVolume"))))
		disks = disks[n:]
	}
	return steps
}

// destroyed are the observations that disks are destroyed. Of many the first few are named.
func destroyed(disks []v1alpha1.Disk) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for i, d := range disks {
		if i == phrase.MaxNamed {
			return append(all, core.Seen("so are those of %d more PersistentVolumes", len(disks)-i)...)
		}
		says := "the disk of PersistentVolume " + status.DiskName(d) + " is destroyed when it is released"
		all = append(all, core.ObservedAt("PersistentVolume "+d.Volume.Name+" spec.persistentVolumeReclaimPolicy", says)...)
	}
	return all
}

// lost says in a sentence what is destroyed.
func lost(disks []v1alpha1.Disk) string {
	names := phrase.Words(disks, func(d v1alpha1.Disk) string { return d.Volume.Name })
	return fmt.Sprintf("Data are destroyed: the %s of PersistentVolume %s.", phrase.Plural(len(disks), "disk", "disks"),
		phrase.And(names))
}
