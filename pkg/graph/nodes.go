package graph

import (
	"encoding/binary"
	"slices"
	"strings"
)

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

// textChunk is how many bytes of text are allocated at once.
const textChunk = 1 << 16

// text is where a string stands among texts. It has 32 bits for the place, as an ID has for a node:
// 4 GB of names fit into no memory either.
type text struct{ at, length uint32 }

// texts holds strings without a pointer for each.
type texts struct {
	chunks []*strings.Builder
	sealed bool // the last chunk is another's, too
}

// add copies a string.
func (t *texts) add(s string) text {
	if len(s) == 0 {
		return text{}
	}
	last := len(t.chunks) - 1
	if last < 0 || t.sealed || t.chunks[last].Len() >= textChunk || t.chunks[last].Cap()-t.chunks[last].Len() < len(s) {
		chunk := &strings.Builder{}
		size := textChunk
		if last < 0 { // most graphs are small
			size = 1024
		}
		chunk.Grow(max(len(s), size))
		t.chunks, t.sealed = append(t.chunks, chunk), false
		last++
	}
	chunk := t.chunks[last]
	at := uint32(last*textChunk + chunk.Len())
	chunk.WriteString(s) // into what it has, so that strings that were returned stay where they are
	return text{at, uint32(len(s))}
}

// get returns a string, without a copy of it.
func (t *texts) get(s text) string {
	if s.length == 0 {
		return ""
	}
	offset := s.at % textChunk
	return t.chunks[s.at/textChunk].String()[offset : offset+s.length]
}

// clip returns the same texts, to which others can be added without a change of these.
func (t *texts) clip() texts { return texts{slices.Clip(t.chunks), true} }

// uid is a uid in 16 bytes: those that its digits stand for, or the place of its text if it is not
// of the usual form, which a reference need not be.
type uid [16]byte

// parseUID returns the bytes of a uid of the form in which an API server makes them: 36 characters,
// in lower case.
func parseUID(s string) (u uid, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return uid{}, false
	}
	at := 0
	for i := range u {
		if at == 8 || at == 13 || at == 18 || at == 23 {
			at++
		}
		high, low := digits[s[at]], digits[s[at+1]]
		if high|low > 15 {
			return uid{}, false
		}
		u[i] = high<<4 | low
		at += 2
	}
	return u, true
}

// digits are the values of the hexadecimal digits in lower case, and 255 of all else. A table takes
// no branches, which nobody can foresee of random digits.
var digits = func() (values [256]byte) {
	for c := range values {
		values[c] = 255
	}
	for value, c := range []byte("0123456789abcdef") {
		values[c] = byte(value)
	}
	return values
}()

// String is what parseUID reads.
func (u uid) String() string {
	const digit = "0123456789abcdef"
	b := make([]byte, 0, 36)
	for i, c := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, digit[c>>4], digit[c&15])
	}
	return string(b)
}

// oddUID is the uid of a text.
func oddUID(t text) (u uid) {
	binary.LittleEndian.PutUint32(u[:], t.at)
	binary.LittleEndian.PutUint32(u[4:], t.length)
	return u
}

// text is the place of what oddUID was given.
func (u *uid) text() text {
	return text{binary.LittleEndian.Uint32(u[:]), binary.LittleEndian.Uint32(u[4:])}
}

// uidOf is the uid of a node. It begins with a NUL if the object has none.
func (t *texts) uidOf(n *node) string {
	if n.oddUID {
		return t.get(n.uid.text())
	}
	return n.uid.String()
}

// isUID reports whether a node has a uid, which parseUID could read or not.
func (t *texts) isUID(n *node, u uid, usual bool, s string) bool {
	if usual {
		return !n.oddUID && n.uid == u
	}
	return n.oddUID && t.get(n.uid.text()) == s
}
