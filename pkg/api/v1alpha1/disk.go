package v1alpha1

// Disk is a PersistentVolume and what is behind it.
type Disk struct {
	// Volume is the PersistentVolume, and Claim the PersistentVolumeClaim that is bound to it, null
	// if none is.
	Volume ObjectRef  `json:"volume"`
	Claim  *ObjectRef `json:"claim,omitempty"`
	// Capacity is a quantity, as 10Gi.
	Capacity string `json:"capacity,omitempty"`
	// StorageClass is the volume's, empty if it has none.
	StorageClass string `json:"storageClass,omitempty"`
	// ReclaimPolicy is Delete, Retain or Recycle.
	ReclaimPolicy string `json:"reclaimPolicy"`
	// Driver and Handle name the storage outside the cluster, empty if it is not of a CSI driver.
	Driver string `json:"driver,omitempty"`
	Handle string `json:"handle,omitempty"`
}

// Destroyed says whether the data are destroyed when the claim, or the volume, is deleted.
func (d Disk) Destroyed() bool { return d.ReclaimPolicy != "Retain" }
