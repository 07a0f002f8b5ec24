package graph

import "encoding/binary"

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

// uids are the numbers of nodes by their uids: those that parseUID can read, and others.
type uids struct {
	usual map[uid]int32
	odd   map[string]int32
}

func (u uids) find(s string) (id int32, ok bool) {
	if usual, is := parseUID(s); is {
		id, ok = u.usual[usual]
	} else {
		id, ok = u.odd[s]
	}
	return id, ok
}

// renumber gives the numbers others, and forgets those whose new number is negative.
func renumber[K comparable](numbers map[K]int32, to []int32) {
	for key, id := range numbers {
		if numbers[key] = to[id]; to[id] < 0 {
			delete(numbers, key)
		}
	}
}
