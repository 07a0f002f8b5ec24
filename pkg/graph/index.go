package graph

import "hash/maphash"

// index finds numbers by what they stand for. It has four to eight bytes for each, and no pointers: what is hashed and compared stands elsewhere.
type index struct {
	slots []int32 // a number and one, or 0 for none; a power of two of them
	n     int
}

// find returns the number that stands for what has a hash.
func (x *index) find(hash uint64, is func(int32) bool) (int32, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(x.slots) - 1)
	for at := hash & mask; x.slots[at] != 0; at = (at + 1) & mask {
		if id := x.slots[at] - 1; id >= 0 && is(id) {
			return id, true
		}
	}
	return 0, false
}

// add notes a number that is not there yet. HashOf returns the hash of those that are.
func (x *index) add(hash uint64, id int32, hashOf func(int32) uint64) {
	if 4*(x.n+1) > 3*len(x.slots) {
		old := x.slots
		x.slots = make([]int32, max(16, 2*len(old)))
		for _, slot := range old {
			if slot != 0 {
				x.put(hashOf(slot-1), slot)
			}
		}
	}
	x.put(hash, id+1)
	x.n++
}

func (x *index) put(hash uint64, slot int32) {
	mask := uint64(len(x.slots) - 1)
	at := hash & mask
	for x.slots[at] != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = slot
}

// seed makes hashes that nobody can know who names uids in references: an index in which all are the same is a list.
var seed = maphash.MakeSeed()

// gone stands where a number was that is none any more: others may have been put behind it.
const gone = -1

// renumber gives the numbers others, and forgets those whose new number is negative.
func (x *index) renumber(to []int32) {
	for at, slot := range x.slots {
		if slot > 0 {
			x.slots[at] = to[slot-1] + 1
			if to[slot-1] < 0 {
				x.slots[at] = gone
			}
		}
	}
}
