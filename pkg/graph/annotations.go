package graph

import (
	"maps"
	"slices"
	"strings"
)

// Annotations returns the annotations of a node that its listing was asked for; nil if it has none
// of them. The map must not be changed.
func (g *Graph) Annotations(id ID) map[string]string { return g.annotations[int32(id)] }

// annotate notes the annotations of a node in the place of those that it had.
func (b *Builder) annotate(id int32, annotations map[string]string) {
	if len(annotations) == 0 {
		delete(b.annotations, id)
		return
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		key.WriteString(name + "\x00" + annotations[name] + "\x00")
	}
	set, known := b.annotationSets[key.String()]
	if !known {
		set = maps.Clone(annotations)
		b.annotationSets[key.String()] = set
	}
	b.annotations[id] = set
}
