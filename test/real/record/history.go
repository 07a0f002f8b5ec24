package record

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// History lists events in the order of the server.
type History []Event

// Of gives the events of a type, by its resource and group.
func (h History) Of(resource string) History {
	return h.filter(func(e Event) bool { return e.Resource == resource })
}

// In gives the events of the objects in a namespace.
func (h History) In(namespace string) History {
	return h.filter(func(e Event) bool { return e.Namespace == namespace })
}

// Kinds gives the events of some kinds.
func (h History) Kinds(kinds ...Kind) History {
	return h.filter(func(e Event) bool { return slices.Contains(kinds, e.Kind) })
}

// About gives the events of an object.
func (h History) About(uid types.UID) History {
	return h.filter(func(e Event) bool { return e.UID == uid })
}

func (h History) filter(keep func(Event) bool) History {
	return slices.DeleteFunc(slices.Clone(h), func(e Event) bool { return !keep(e) })
}

// When gives the version of the first event of a kind about an object, and 0 if there is none.
func (h History) When(uid types.UID, kind Kind) uint64 {
	if events := h.About(uid).Kinds(kind); len(events) > 0 {
		return events[0].Version
	}
	return 0
}

// String prints one event a line.
func (h History) String() string {
	lines := make([]string, len(h))
	for i, e := range h {
		lines[i] = e.String()
	}
	return strings.Join(lines, "\n")
}
