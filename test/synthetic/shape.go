package synthetic

// Shape is how many objects there are.
type Shape struct {
	// Objects is about how many there are in all; Types is how many types have them.
	Objects, Types int
	// Absent is how many ServiceAccounts name an owner that does not exist. They are among the
	// objects.
	Absent int
	// Salt makes other uids: servers that differ in nothing else are different clusters. It is below
	// 4096.
	Salt int
}

// What each namespace has. Two namespaces have three Deployments.
const (
	configMapsOfNamespace = 30
	secretsOfNamespace    = 20
	ownersOfSecret        = 5
	replicaSetsOfOwner    = 2
	podsOfReplicaSet      = 10
	objectsOfNamespace    = 100
)

// Namespaces is how many namespaces there are: one for a hundred objects.
func (s Shape) Namespaces() int { return max(2, s.Objects/objectsOfNamespace) }

// ConfigMaps is how many objects have the one owner that has most: three of ten.
func (s Shape) ConfigMaps() int { return s.Namespaces() * configMapsOfNamespace }

// Secrets is how many objects have five owners, which are ConfigMaps: two of ten.
func (s Shape) Secrets() int { return s.Namespaces() * secretsOfNamespace }

// Deployments is how many Deployments there are, each of two ReplicaSets with ten Pods.
func (s Shape) Deployments() int { return s.Namespaces() * 3 / 2 }

// BelowOwner is how many rows the tree of Owner has that are not repeated: itself, the ConfigMaps,
// and the Secrets that these own.
func (s Shape) BelowOwner() int { return 1 + s.ConfigMaps() + s.Secrets() }

// OfDeployment is how many objects the tree of a Deployment has.
const OfDeployment = 1 + replicaSetsOfOwner*(1+podsOfReplicaSet)

// Total is how many objects there are exactly.
func (s Shape) Total() int {
	total := 0
	for _, k := range newWorld(s).kinds {
		total += k.count
	}
	return total
}
