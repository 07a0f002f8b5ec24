package unfinalize

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// needData refuses what ends in the destruction of disks: of an object that goes with this, or of
// what follows it.
func (v *Assessment) needData(o *unstructured.Unstructured, names []string, f Details) {
	if f.After == nil || !released(o, names) {
		return
	}
	if n := len(f.After.Disks); n > 0 {
		v.refuse(DataLoss, WithForce, "it "+status.Destroys(f.After.Disks), status.KeepDisks(f.After.Disks))
	}
	if n := len(f.After.Unread); n > 0 {
		v.refuse(DataLoss, WithForce, fmt.Sprintf("%s would be deleted, and whether %s destroyed is not known: %v",
			phrase.Count(n, "PersistentVolumeClaim"), phrase.Plural(n, "its disk is", "their disks are"), f.After.Why), "")
	}
}
