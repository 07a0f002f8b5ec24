package v1alpha1

// Freed is what no longer holds or asks for something once the objects of a plan are deleted. What
// could not be read is not in it.
type Freed struct {
	// Storage is that of the volumes that are destroyed or released, by storage class.
	Storage []FreedStorage `json:"storage,omitempty"`
	// Pods is how many pods no longer run on a node, and Requests are the sums of what they request
	// there, as quantities by resource: cpu, memory, nvidia.com/gpu. A pod that is created again is in
	// neither.
	Pods     int               `json:"pods,omitempty"`
	Requests map[string]string `json:"requests,omitempty"`
	// DNSNames are those for which the objects ask, sorted; other objects may ask for them too.
	DNSNames []string `json:"dnsNames,omitempty"`
	// Certificates is how many Certificates of cert-manager are not renewed any more.
	Certificates int `json:"certificates,omitempty"`
	// Unread are the objects that are not in the sums, because they could not be read or are too many.
	Unread []ObjectRef `json:"unread,omitempty"`
}

// FreedStorage is what becomes of the volumes of a storage class.
type FreedStorage struct {
	// StorageClass is empty for the volumes without one.
	StorageClass string `json:"storageClass,omitempty"`
	// Volumes is how many there are, and Destroyed and Kept are the sums of their capacities, as
	// quantities: of those that are destroyed, and of those that their reclaim policy keeps.
	Volumes   int    `json:"volumes"`
	Destroyed string `json:"destroyed,omitempty"`
	Kept      string `json:"kept,omitempty"`
}

// Outside is what an object that is deleted stands for outside the cluster.
type Outside struct {
	Object ObjectRef `json:"object"`
	// Is says what it is, as "load balancer", and Name identifies it there. Field is where the object
	// has the name.
	Is    string `json:"is"`
	Name  string `json:"name"`
	Field string `json:"field"`
	// Stays means that the object tells its controller to leave it.
	Stays bool `json:"stays,omitempty"`
}

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

// Destroyed reports whether the data are destroyed when the claim, or the volume, is deleted.
func (d Disk) Destroyed() bool { return d.ReclaimPolicy != "Retain" }
