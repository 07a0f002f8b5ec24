package dump

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// saved are the objects of a type that a snapshot has, which are read when they are asked for.
type saved struct {
	file *snapshot.File
	// lists are those of metadata, and of them versions the resourceVersions of those that are whole.
	lists    []snapshot.Of
	versions map[snapshot.Of]string
	// whole says that all whole objects were listed, after the metadata, and paged that the pages have
	// the metadata of all that there were, as far as that is known of the type.
	whole, paged bool
	once         sync.Once
	broken       atomic.Pointer[error]
}

const kindSnapshot = "snapshot of kubectl gc"

// IsSnapshot returns whether it is what kubectl gc snapshot writes.
func (d *Dump) IsSnapshot() bool { return d.Kind == kindSnapshot }

// zipMagic begins a zip archive, which a snapshot is.
const zipMagic = "PK\x03\x04"

// openSnapshot reads what a snapshot says of itself. Its file has to stay open.
func openSnapshot(r io.ReaderAt, size int64, limits Limits) (*Dump, error) {
	bounds := snapshot.Limits{Entry: uint64(max(0, limits.Entry)), Total: uint64(max(0, limits.Kept))}
	file, err := snapshot.Read(r, size, bounds)
	if err != nil {
		return nil, err
	}
	if file.End.Objects > limits.Objects {
		return nil, tooLarge("it has more than %d objects", limits.Objects)
	}
	d := &Dump{Kind: kindSnapshot, Time: file.Head.Begun.UTC(), TimeOf: Stated, Cluster: file.Head.Cluster,
		Aggregated: file.Head.Unknown, Objects: file.End.Objects, unsaved: "the snapshot does not have them"}
	if file.Head.Namespace != "" {
		d.partly = "the snapshot is of namespace " + file.Head.Namespace
	}
	types := map[schema.GroupResource]*Type{}
	register := func(t *Type) {
		t.saved, t.namespaces = &saved{file: file, versions: map[snapshot.Of]string{}}, map[string]bool{}
		types[schema.GroupResource{Group: t.Group, Resource: t.Name}] = t
		d.Types = append(d.Types, t)
	}
	for _, t := range file.Head.Types {
		register(&Type{APIResource: t.APIResource, Versions: append([]string{t.Version}, t.OtherVersions...)})
	}
	for _, list := range file.End.Lists {
		t := types[schema.GroupResource{Group: list.Group, Resource: list.Resource}]
		if t == nil { // one that discovery did not show
			t = &Type{Versions: []string{list.Version}, APIResource: metav1.APIResource{Group: list.Group, Version: list.Version,
				Name: list.Resource, Kind: list.Kind, SingularName: strings.ToLower(list.Kind), Namespaced: list.Namespaced,
				Verbs: verbs}}
			register(t)
		}
		t.saved.versions[list.Of] = list.ResourceVersion
		t.lists(list.Namespace)
	}
	for _, of := range file.Lists() {
		if t := types[schema.GroupResource{Group: of.Group, Resource: of.Resource}]; t != nil {
			t.saved.lists = append(t.saved.lists, of)
		}
	}
	for _, t := range types { // of which all namespaces were listed, one by one
		t.known = t.Namespaced && len(t.namespaces) > 0 && file.Head.Namespace == ""
	}
	for _, gap := range file.End.Gaps {
		if t := types[schema.GroupResource{Group: gap.Group, Resource: gap.Resource}]; t != nil {
			t.unlisted, t.known = why(gap), false
		}
	}
	for _, t := range types {
		t.saved.paged = true
	}
	for _, of := range file.End.Contents {
		if t := types[schema.GroupResource{Group: of.Group, Resource: of.Resource}]; t != nil {
			// A list of metadata that failed is not made whole by one of whole objects that did not.
			t.saved.whole, t.saved.paged = true, t.Covers(of.Namespace)
			t.lists(of.Namespace)
		}
	}
	slices.SortFunc(d.Types, func(x, y *Type) int {
		return cmp.Or(strings.Compare(x.Group, y.Group), strings.Compare(x.Name, y.Name))
	})
	return d, nil
}

// why says why a type was not listed, of all that were forbidden in one place in the same words.
func why(gap v1alpha1.Gap) string {
	switch {
	case gap.Reason != v1alpha1.GapForbidden:
		return gap.Message
	case gap.Namespace != "":
		return "forbidden in namespace " + gap.Namespace
	}
	return "forbidden at the cluster scope"
}

// lists notes that all objects of a type were listed, in a namespace or everywhere.
func (t *Type) lists(namespace string) {
	if namespace == "" {
		t.everywhere = true
		return
	}
	t.namespaces[namespace] = true
}

// Pages returns the pages of metadata of all objects of a type, encoded as snapshot.Items are, and
// where their list ended; none where In knows of more objects, or for what is no snapshot.
func (t *Type) Pages() (pages []func() ([]byte, error), resourceVersion string) {
	if t.saved == nil || !t.saved.paged {
		return nil, ""
	}
	return t.saved.pages(), t.saved.versions[snapshot.Of{Group: t.Group, Resource: t.Name}]
}

func (s *saved) pages() (pages []func() ([]byte, error)) {
	for _, of := range s.lists {
		for i := range s.file.Pages(of) {
			pages = append(pages, func() ([]byte, error) { return s.file.Page(of, i) })
		}
	}
	return pages
}

// Size returns how many bytes of metadata a snapshot has of the type.
func (t *Type) Size() (bytes uint64) {
	if t.saved != nil {
		for _, of := range t.saved.lists {
			bytes += t.saved.file.Size(of)
		}
	}
	return bytes
}

// HasContent returns whether all whole objects of the type were listed. Those that are not whole were
// deleted between the two lists.
func (t *Type) HasContent() bool { return t.saved == nil || t.saved.whole }

// load reads the objects of a type of a snapshot. With an error nothing is concluded from those
// that there are.
func (t *Type) load() {
	if t.saved == nil {
		return
	}
	t.saved.once.Do(func() {
		if err := t.read(); err != nil {
			err = fmt.Errorf("the snapshot is damaged: %w", err)
			t.saved.broken.Store(&err)
		}
		slices.SortStableFunc(t.Objects, func(x, y *Object) int {
			return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
		})
		// A list that began again has some objects twice.
		t.Objects = slices.CompactFunc(t.Objects, func(x, y *Object) bool {
			return x.Namespace == y.Namespace && x.Name == y.Name && x.UID == y.UID
		})
	})
}

func (t *Type) read() error {
	raw, err := t.saved.file.Objects(t.Group, t.Name)
	if err != nil {
		return err
	}
	whole := map[string]bool{}
	for _, content := range raw {
		var it item
		if err := json.Unmarshal(content, &it); err != nil {
			return err
		}
		m := it.Metadata
		whole[m.UID] = true
		t.Objects = append(t.Objects, &Object{Namespace: m.Namespace, Name: m.Name, UID: m.UID,
			ResourceVersion: m.ResourceVersion, JSON: content})
	}
	for _, page := range t.saved.pages() {
		content, err := page()
		if err != nil {
			return err
		}
		err = snapshot.ForEach(content, func(it snapshot.Item) {
			if !whole[it.UID] {
				t.Objects = append(t.Objects, &Object{Namespace: it.Namespace, Name: it.Name, UID: it.UID,
					ResourceVersion: it.ResourceVersion, Metadata: it.Encoded})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
