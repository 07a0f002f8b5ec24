package graph

// State is what the snapshot says of a node's existence.
type State uint8

const (
	// Active means seen, without a deletionTimestamp.
	Active State = iota
	// Deleting means seen, with a deletionTimestamp.
	Deleting
	// Absent means referenced, and not among the objects of the type it is said to have, which was
	// listed completely in that scope. It is a statement about a snapshot, no proof: one takes a
	// live read (RO-004).
	Absent
	// Unknown means referenced, and in a place that could not be listed. Unknown is not absent.
	Unknown
)

var stateNames = [...]string{"Active", "Deleting", "Absent", "Unknown"}

// String returns the name of the state, as people and programs read it.
func (s State) String() string { return stateNames[s] }

// Problem is what is wrong with an ownerReference, as a set of bits.
type Problem uint8

const (
	// WrongNamespace means that the owner is in another namespace than the dependent. The collector
	// looks it up in the dependent's own and takes it for absent (GC-047).
	WrongNamespace Problem = 1 << iota
	// WrongScope means that a cluster-scoped dependent names a namespaced owner; the collector
	// never collects it (GC-048).
	WrongScope
	// WrongName means that the owner's uid is right and its name is not; the collector looks up the
	// name and takes the owner for absent (GC-046).
	WrongName
	// WrongKind means that the owner's uid is right and its kind or group is not.
	WrongKind
	// Unresolvable means that no served type has that apiVersion and kind; the collector retries
	// for ever and never acts (GC-050).
	Unresolvable
	// SelfReference means that the object names itself as its owner (GC-064).
	SelfReference
	// InexactKind means that the kind is spelled otherwise than the served one, or more than one
	// served type has it. The collector makes a guess; whoever does not guess cannot prove by it
	// that an owner is absent.
	InexactKind
)

var problemNames = [...]string{"WrongNamespace", "WrongScope", "WrongName", "WrongKind", "Unresolvable",
	"SelfReference", "InexactKind"}

// Names returns the names of the bits that are set, in a fixed order.
func (p Problem) Names() []string {
	var names []string
	for i, name := range problemNames {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
