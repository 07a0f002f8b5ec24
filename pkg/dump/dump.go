package dump

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Dump is what was saved of a cluster.
type Dump struct {
	// Kind is what the dump was recognized as.
	Kind string
	// Time is when it was made, as far as TimeOf tells.
	Time   time.Time
	TimeOf TimeOf
	// Cluster is the uid of the namespace kube-system; empty if the dump does not tell.
	Cluster string
	// Types are the types that can be asked for, by group and name.
	Types []*Type
	// Aggregated are versions that are served, of whose types the dump tells nothing.
	Aggregated []schema.GroupVersion
	// Objects is how many it has.
	Objects int
	// Unread are the files that could not be read, and why. Nothing is concluded from them.
	Unread []error
	// WithoutUID is how many objects were left out, because no server has answered them: they have
	// no uid, as those of manifests.
	WithoutUID int

	unsaved string
	// partly is why it does not have all objects, if it states that it does not.
	partly string
}

// TimeOf says what tells when a dump was made.
type TimeOf uint8

const (
	// OfFiles is when its files were written, which a copy can change.
	OfFiles TimeOf = iota
	// OfLeases is the time of its newest object: the Leases of nodes or of API servers, which are
	// renewed each few seconds, are among them.
	OfLeases
	// Stated is a time that the dump itself states.
	Stated
)

// Open reads a file or a folder. Its errors name it.
func Open(ctx context.Context, path string, limits Limits) (*Dump, error) {
	d, err := read(limits, func(e *entries) error { return e.path(ctx, path) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Read reads a file, or an archive, that comes through a pipe.
func Read(ctx context.Context, from io.Reader, limits Limits) (*Dump, error) {
	return read(limits, func(e *entries) error { return e.stream(ctx, from, time.Now()) })
}

// file is a file of a dump, with what was decoded of it.
type file struct {
	name string
	docs []document
}

func read(limits Limits, from func(*entries) error) (*Dump, error) {
	d := &Dump{}
	var files []file
	var names []string
	e := &entries{limits: limits, unread: func(name string, err error) {
		d.Unread = append(d.Unread, fmt.Errorf("reading %s: %w", name, err))
	}}
	e.visit = func(name string, content []byte) error {
		names = append(names, name)
		if split := strings.Split(name, "/"); split[len(split)-1] == "timestamp" {
			return d.timestamp(content)
		}
		docs, err := decode(content)
		if err != nil {
			e.unread(name, err)
			return nil
		}
		files = append(files, file{name, docs})
		return nil
	}
	if err := from(e); err != nil || e.snapshot != nil {
		return e.snapshot, err
	}
	if e.single && len(d.Unread) > 0 {
		return nil, d.Unread[0]
	}
	of := layouts[slices.IndexFunc(layouts, func(l layout) bool { return l.is(names) })]
	d.Kind, d.unsaved = of.name, of.unsaved
	b := newBuilder(d, limits)
	if err := b.add(of, files); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("it has no file *.json, *.yaml or *.yml: others are not read of a folder or an archive")
	}
	if d.Objects == 0 && !slices.ContainsFunc(d.Types, (*Type).isListed) {
		return nil, d.empty()
	}
	b.finish(e.written)
	return d, nil
}

// empty is the error of a source without objects, and without a list that has none.
func (d *Dump) empty() error {
	switch {
	case d.WithoutUID > 0:
		return errors.New("its objects have no uid: they are manifests, and not what a server has answered")
	case len(d.Unread) > 0:
		return fmt.Errorf("no object can be read of it: %w", d.Unread[0])
	}
	return errors.New("it holds no objects of a cluster")
}

// apart is how far from each other the parts of one dump are gathered, at most.
const apart = 2 * time.Hour

// timestamp reads the file in which must-gather notes when it began and ended. Two of other times are
// an error: as of the later, whatever the earlier has would seem to stand still since.
func (d *Dump) timestamp(content []byte) error {
	var last time.Time
	for line := range strings.Lines(string(content)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		t, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", strings.Join(f[:3], " "))
		if err == nil && t.After(last) {
			last = t.UTC()
		}
	}
	if d.TimeOf == Stated && !last.IsZero() && last.Sub(d.Time).Abs() > apart {
		return fmt.Errorf("it was gathered at two times, %s and %s: name the files of one of them", d.Time.Format(time.RFC3339),
			last.Format(time.RFC3339))
	}
	if last.After(d.Time) {
		d.Time, d.TimeOf = last, Stated
	}
	return nil
}

// Why says why it is not known which objects of a type there were, in a namespace or everywhere.
func (d *Dump) Why(t *Type, namespace string) string {
	switch {
	case t.saved != nil && t.saved.broken.Load() != nil:
		return (*t.saved.broken.Load()).Error()
	case t.unlisted != "":
		return "it could not be listed for the snapshot: " + t.unlisted
	case d.partly != "":
		return d.partly
	case t.saved != nil:
		return d.unsaved
	case len(t.Objects) == 0 && len(t.namespaces) == 0:
		return d.unsaved
	case namespace != "":
		return "it is not known whether all of them in the namespace were saved"
	}
	return "it is not known whether all of them were saved"
}

// Find returns the type of a group and a resource.
func (d *Dump) Find(group, resource string) (*Type, bool) {
	i, ok := slices.BinarySearchFunc(d.Types, [2]string{group, resource}, func(t *Type, key [2]string) int {
		return cmp.Or(strings.Compare(t.Group, key[0]), strings.Compare(t.Name, key[1]))
	})
	if !ok {
		return nil, false
	}
	return d.Types[i], true
}

// Find returns one object. It is safe for concurrent use.
func (t *Type) Find(namespace, name string) (*Object, bool) {
	t.load()
	i, ok := slices.BinarySearchFunc(t.Objects, [2]string{namespace, name}, func(o *Object, key [2]string) int {
		return cmp.Or(strings.Compare(o.Namespace, key[0]), strings.Compare(o.Name, key[1]))
	})
	if !ok {
		return nil, false
	}
	return t.Objects[i], true
}

// In returns the objects in a namespace, or all if it is empty. It is safe for concurrent use.
func (t *Type) In(namespace string) []*Object {
	t.load()
	if namespace == "" {
		return t.Objects
	}
	from, _ := slices.BinarySearchFunc(t.Objects, namespace,
		func(o *Object, ns string) int { return strings.Compare(o.Namespace, ns) })
	to := from
	for to < len(t.Objects) && t.Objects[to].Namespace == namespace {
		to++
	}
	return t.Objects[from:to]
}

// Type is a type of which a dump has objects, or of which objects in it speak, or that Kubernetes
// itself serves.
type Type struct {
	metav1.APIResource
	// Versions are those in which it is served: Version, in which the dump has its objects, and
	// others.
	Versions []string
	// Objects are those that the dump has, by namespace and name. Those of a snapshot are read when In
	// or Find ask for them.
	Objects []*Object

	// everywhere and namespaces say where the dump has all objects of the type, and known that it
	// does in all namespaces that there are.
	everywhere, known bool
	namespaces        map[string]bool
	// unlisted is why not all objects were listed, if the dump says so.
	unlisted string
	// defined says that a CustomResourceDefinition of the dump tells its versions.
	defined bool
	saved   *saved // nil for what is no snapshot
}

// Object is one object of a dump.
type Object struct {
	Namespace, Name, UID, ResourceVersion string
	// JSON is the whole object, nil if the dump has no more than its metadata.
	JSON []byte
	// Metadata is a PartialObjectMetadata in protobuf, of an object without JSON.
	Metadata []byte
}

// Covers returns whether the dump has all objects of the type in a namespace, so that what it does
// not have was not there. An empty namespace means everywhere.
func (t *Type) Covers(namespace string) bool {
	if t.saved != nil && t.saved.broken.Load() != nil {
		return false
	}
	return t.everywhere || t.namespaces[namespace] || namespace == "" && t.known
}

// Namespaces returns those of which a dump that is no snapshot has all objects of the type.
func (t *Type) Namespaces() []string {
	if t.saved != nil { // whose pages can turn out to be damaged
		return nil
	}
	return slices.Collect(maps.Keys(t.namespaces))
}

// isListed returns whether all objects of the type are known, in some namespace or everywhere.
func (t *Type) isListed() bool { return t.everywhere || len(t.namespaces) > 0 }

// serves adds a version to those in which a type is served.
func (t *Type) serves(version string) {
	if !slices.Contains(t.Versions, version) {
		t.Versions = append(t.Versions, version)
	}
}

//go:embed types.txt
var builtIn string

// verbs are those of the types that the garbage collector watches, as discovery shows them: with
// others an object of a dump could not be asked for its dependents.
var verbs = metav1.Verbs{"delete", "get", "list", "patch", "watch"}

// reviews are the groups of the types that are questions, and are not stored.
var reviews = []string{"authentication.k8s.io", "authorization.k8s.io"}

// builtInTypes are the types that Kubernetes itself serves. Those of them that a dump does not know
// of are not known to be absent.
func builtInTypes() []*Type {
	list := func(field string) []string {
		if field == "-" {
			return nil
		}
		return strings.Split(field, ",")
	}
	var all []*Type
	for line := range strings.Lines(builtIn) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		versions := strings.Split(f[1], ",")
		t := &Type{Versions: versions, APIResource: metav1.APIResource{
			Group: strings.TrimSuffix(f[0], "-"), Version: versions[0], Name: f[2], Kind: f[3],
			SingularName: strings.ToLower(f[3]), Namespaced: f[4] == "Namespaced", ShortNames: list(f[5]),
			Categories: list(f[6]), Verbs: verbs,
		}}
		if slices.Contains(reviews, t.Group) {
			t.Verbs = metav1.Verbs{"create"}
		}
		all = append(all, t)
	}
	return all
}
