package graph

import (
	"slices"
	"strings"
)

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
