package dump

import (
	"cmp"
	"fmt"
	"path"
	"slices"
)

// leaveOutShared leaves out objects of which several in a type have one uid, as a program writes that
// hides uids: they would be taken for one object. What is left of such a uid is one object, served in
// several types by the same name, or has to go, too.
func (b *builder) leaveOutShared() {
	n, example := b.Objects, ""
	shared, name, several := map[string]bool{}, map[string]string{}, map[string]bool{}
	for _, t := range b.Types {
		first, twice := make(map[string]*Object, len(t.Objects)), map[string]bool{}
		for _, o := range t.Objects {
			if other := first[o.UID]; other != nil {
				twice[o.UID], shared[o.UID] = true, true
				example = cmp.Or(example, fmt.Sprintf("%s %s and %s, which have %s", t.Name, other.path(), o.path(), o.UID))
			}
			first[o.UID] = o
		}
		b.leaveOut(t, twice)
	}
	if len(shared) == 0 {
		return
	}
	for _, t := range b.Types {
		for _, o := range t.Objects {
			if shared[o.UID] {
				name[o.UID] = cmp.Or(name[o.UID], o.path())
				several[o.UID] = several[o.UID] || name[o.UID] != o.path()
			}
		}
	}
	for _, t := range b.Types {
		b.leaveOut(t, several)
	}
	b.Unread = append(b.Unread, fmt.Errorf("%d objects left out, which share a uid and cannot be told apart, as %s", n-b.Objects,
		example))
}

// leaveOut leaves out the objects of a type with some uids.
func (b *builder) leaveOut(t *Type, uids map[string]bool) {
	before := len(t.Objects)
	t.Objects = slices.DeleteFunc(t.Objects, func(o *Object) bool { return uids[o.UID] })
	if left := before - len(t.Objects); left > 0 {
		b.Objects -= left
		t.everywhere, t.namespaces = false, map[string]bool{}
	}
}

func (o *Object) path() string { return path.Join(o.Namespace, o.Name) }
