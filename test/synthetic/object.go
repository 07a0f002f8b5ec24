package synthetic

import (
	"strconv"
	"strings"
)

const (
	// version is the resourceVersion of every list, and objectVersion is added to the number of an
	// object: both have as many digits.
	version       = "9000000"
	objectVersion = 1_000_000
	// created is the creationTimestamp of all objects.
	created     = 1_760_000_000
	createdText = "2025-10-09T08:53:20Z"
	// digits is how many digits the number in a name has.
	digits = 7
)

// appendName appends the name of an object, which is as long as that of any other of its type that
// has a number.
func (k *kind) appendName(b []byte, i int) []byte {
	if k.nameOf != nil {
		return append(b, k.nameOf(i)...)
	}
	b = append(append(b, k.prefix...), '-')
	n := strconv.Itoa(i)
	b = append(b, "0000000"[:max(0, digits-len(n))]...)
	return append(b, n...)
}

func (k *kind) name(i int) string { return string(k.appendName(nil, i)) }

// find returns the number of the object with a name.
func (k *kind) find(name string) (int, bool) {
	if k.nameOf != nil {
		for i := range k.count {
			if k.nameOf(i) == name {
				return i, true
			}
		}
		return 0, false
	}
	n, ok := strings.CutPrefix(name, k.prefix+"-")
	i, err := strconv.Atoi(n)
	return i, ok && err == nil && i >= 0 && i < k.count && k.name(i) == name
}

const hex = "0123456789abcdef"

// appendUID appends the uid of an object, which is random to look at and always the same.
func (k *kind) appendUID(b []byte, i int) []byte {
	high, low := mix(k.id<<40|uint64(i)), mix(^(k.id<<40 | uint64(i)))
	for n := range 32 {
		if n == 8 || n == 12 || n == 16 || n == 20 {
			b = append(b, '-')
		}
		if n == 16 {
			high = low
		}
		b = append(b, hex[high>>60])
		high <<= 4
	}
	return b
}

// mix is the finalizer of splitmix64: close numbers become distant ones.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func appendVersion(b []byte, i int) []byte { return strconv.AppendInt(b, int64(objectVersion+i), 10) }

// managedFields is what managedFields look like; as much of it is sent as objects of a type have.
var managedFields = []byte(
	strings.Repeat(
		`{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{}},"f:labels":{".":{},"f:app.kubernetes.io/name":{}}},"f:spec":{"f:containers":`+
			`{"k:{\"name\":\"web\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:ports":{},"f:resources":{}}},"f:restartPolicy":{}}}`, 6))
