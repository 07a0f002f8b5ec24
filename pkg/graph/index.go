package graph

import "hash/maphash"

// index finds numbers by what they stand for. It has a word of one and a half to three for each,
// and no pointers: what is compared stands elsewhere.
type index struct {
	// slots are a power of two. Each has a hash in its upper half and a number and one in its
	// lower, which is 0 where there is none and gone where there was one.
	slots []uint64
	n     int
}

// gone stands where a number was that is none any more: others may have been put behind it.
const gone = 1<<32 - 1

// find returns the number that stands for what has a hash.
func (x *index) find(hash uint32, is func(int32) bool) (int32, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	mask := uint32(len(x.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := x.slots[at]
		if slot == 0 {
			return 0, false
		}
		if uint32(slot>>32) == hash && uint32(slot) != gone && is(int32(uint32(slot)-1)) {
			return int32(uint32(slot) - 1), true
		}
	}
}

// add notes a number that is not there yet.
func (x *index) add(hash uint32, id int32) {
	if 3*(x.n+1) > 2*len(x.slots) {
		old := x.slots
		x.slots = make([]uint64, max(16, 2*len(old)))
		for _, slot := range old {
			if slot != 0 {
				x.put(slot)
			}
		}
	}
	x.put(uint64(hash)<<32 | uint64(id+1))
	x.n++
}

func (x *index) put(slot uint64) {
	mask := uint32(len(x.slots) - 1)
	at := uint32(slot>>32) & mask
	for x.slots[at] != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = slot
}

// renumber gives the numbers others, and forgets those whose new number is negative.
func (x *index) renumber(to []int32) {
	for at, slot := range x.slots {
		if slot == 0 {
			continue
		}
		id := uint64(gone)
		if now := to[uint32(slot)-1]; now >= 0 {
			id = uint64(now + 1)
		}
		x.slots[at] = slot>>32<<32 | id
	}
}

// seed makes hashes that nobody can know who names uids in references: an index in which all are
// the same is a list.
var seed = maphash.MakeSeed()

// hashUID is the hash of a uid, which parseUID could read or not.
func hashUID(u uid, usual bool, s string) uint32 {
	if usual {
		return uint32(maphash.Bytes(seed, u[:]))
	}
	return uint32(maphash.String(seed, s))
}

// hashCoordinates is the hash of a reference's name, with what else coordinates have mixed into all
// its bits: one owner is named in each of many namespaces.
func hashCoordinates(kind, ns int32, name string) uint32 {
	hash := (maphash.String(seed, name) ^ uint64(uint32(ns))<<32 ^ uint64(uint32(kind))) * 0x9e3779b97f4a7c15
	return uint32(hash ^ hash>>32)
}
