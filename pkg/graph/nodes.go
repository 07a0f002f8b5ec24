package graph

import "slices"

// node is one uid. It is virtual until an object with that uid is added, and again when its listing
// is discarded. It has no pointers, so that the collector of garbage has nothing to look at in a
// million of them.
type node struct {
	uid                                  uid
	name                                 text
	version                              uint64 // resourceVersion, if that is a number; see versions
	creationTimestamp, deletionTimestamp int64
	generation                           int64
	listing                              int32 // -1: never seen
	ns                                   int32
	finalizers                           int32
	owners                               int32 // first of its edges
	ownerCount                           int32
	oddUID                               bool // the uid is the number of a text
	selected                             bool
}

const (
	chunkBits = 14
	chunkSize = 1 << chunkBits
)

// nodes are the nodes by number. They stand in chunks, which are never copied to make room for
// more.
type nodes struct {
	chunks [][]node
	n      int
}

func (n *nodes) len() int { return n.n }

func (n *nodes) at(id int32) *node { return &n.chunks[id>>chunkBits][id&(chunkSize-1)] }

// add appends a node and returns its number.
func (n *nodes) add(added node) int32 {
	last := len(n.chunks) - 1
	if last < 0 || len(n.chunks[last]) == chunkSize {
		// The first chunks grow with what is in them: most graphs are small.
		n.chunks = append(n.chunks, nil)
		last++
		if last > 0 {
			n.chunks[last] = make([]node, 0, chunkSize)
		}
	}
	n.chunks[last] = append(n.chunks[last], added)
	n.n++
	return int32(n.n - 1)
}

// clip returns the same nodes, to which others can be added without a change of these.
func (n *nodes) clip() nodes {
	other := nodes{chunks: slices.Clone(n.chunks), n: n.n}
	if last := len(other.chunks) - 1; last >= 0 {
		other.chunks[last] = slices.Clip(other.chunks[last])
	}
	return other
}

// permute puts the nodes in an order, given as the old number of each, and drops those that are not
// in it. It takes no second place for them.
func (n *nodes) permute(order []int32) {
	whole := slices.Grow(slices.Clone(order), n.n-len(order))
	kept := make([]bool, n.n)
	for _, old := range order {
		kept[old] = true
	}
	for id, is := range kept {
		if !is {
			whole = append(whole, int32(id))
		}
	}
	// Each cycle of the permutation is moved by one place. A place that is done is marked by its
	// own number.
	for first := range whole {
		if whole[first] == int32(first) {
			continue
		}
		moved := *n.at(int32(first))
		at := int32(first)
		for {
			from := whole[at]
			whole[at] = at
			if from == int32(first) {
				*n.at(at) = moved
				break
			}
			*n.at(at) = *n.at(from)
			at = from
		}
	}
	n.truncate(len(order))
}

func (n *nodes) truncate(length int) {
	chunks := (length + chunkSize - 1) / chunkSize
	clear(n.chunks[chunks:])
	n.chunks, n.n = n.chunks[:chunks], length
	if rest := length & (chunkSize - 1); rest > 0 {
		n.chunks[chunks-1] = n.chunks[chunks-1][:rest]
	}
}
