package collect

import (
	"slices"
	"strings"
)

// parse takes a line of a snapshot apart: what the object is, and its references, each with whether
// it blocks.
func parse(line string) (name string, refs []string) {
	object, list, _ := strings.Cut(line, " owners=[")
	name, _, _ = strings.Cut(object, " ")
	for pair := range slices.Chunk(strings.Fields(strings.TrimSuffix(list, "]")), 2) {
		refs = append(refs, strings.Join(pair, " "))
	}
	return name, refs
}

// lineOf is the line of an object in a snapshot, empty if it is gone.
func lineOf(lines []string, name string) string {
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+" ") })
	if i < 0 {
		return ""
	}
	return lines[i]
}

// frozen reports whether an object has more references where the collector is, one of which cannot
// be judged: it gives up on all of them, and the loop removes what it can, which lets owners go
// that wait.
func frozen(theirs, ours []string) bool {
	for _, line := range theirs {
		name, refs := parse(line)
		_, left := parse(lineOf(ours, name))
		unjudged := func(r string) bool {
			return strings.HasPrefix(r, "unheard.example.com/") || strings.HasPrefix(name, "ClusterRole/") &&
				!strings.HasPrefix(r, "rbac.")
		}
		if slices.ContainsFunc(refs, unjudged) && len(left) > 0 && len(left) < len(refs) {
			return true
		}
	}
	return false
}

// overtaken reports whether an object differs that did not block an owner which somebody else
// holds: once the collector has let it go, it does not wait for its dependents any more, and keeps
// them.
func overtaken(theirs, ours, start []string) bool {
	for _, line := range theirs {
		owner, _ := parse(line)
		if !strings.Contains(line, " deleting=true ") || !strings.Contains(line, " held=true") {
			continue
		}
		for _, dependent := range start {
			name, refs := parse(dependent)
			loose := func(r string) bool { return strings.HasSuffix(r, "/"+owner+" block=false") }
			if slices.ContainsFunc(refs, loose) && lineOf(theirs, name) != lineOf(ours, name) {
				return true
			}
		}
	}
	return false
}
