package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// New reads an archive and what the cluster has of it now, and plans what a restore does. Nothing
// is written. The error names the file and the line of what cannot be read, is a refusal for an
// archive of another cluster, or is what every request would meet.
func New(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, file string, opts Options) (*Plan,
	error) {
	x, err := readIndex(file)
	if err != nil {
		return nil, err
	}
	if !opts.OtherCluster {
		if err := sameCluster(ctx, client, x.head.Cluster); err != nil {
			return nil, err
		}
	}
	wanted, err := x.find(opts.Names, opts.Namespace, catalog)
	if err != nil {
		return nil, err
	}
	s := &surveyor{client: client, catalog: catalog, survey: survey{
		index: x, wanted: wanted, types: make([]graph.Type, len(x.items)), live: make([]live, len(x.items)),
		proofs: make([]proof, len(x.items)),
	}}
	created, err := archive.CreatedFrom(file)
	if err != nil {
		return nil, err
	}
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	if err := s.recognize(ctx, created); err != nil {
		return nil, err
	}
	if opts.Status {
		s.readStatuses(ctx)
	}
	p := decide(s.survey, opts)
	p.created = created
	return p, p.preflight(ctx, client, catalog)
}

// sameCluster refuses an archive of another cluster: what has the same name there can be something
// else.
func sameCluster(ctx context.Context, client *cluster.Client, archived string) error {
	now, err := client.Identity(ctx)
	if err != nil {
		return err
	}
	because := ""
	switch {
	case archived == "":
		because = "the archive does not say of which cluster it is"
	case now == "":
		because = "whether the archive is of this cluster is not known, because the namespace kube-system cannot be read"
	case now != archived:
		because = "the archive is of another cluster"
	default:
		return nil
	}
	return answer.Refuse(answer.WithHint(errors.New("nothing was restored: "+because),
		"add --other-cluster to restore it here all the same"))
}

// surveyor reads what a survey has.
type surveyor struct {
	survey
	client  *cluster.Client
	catalog *cluster.Catalog
}

func (s *surveyor) read(ctx context.Context) error {
	for _, it := range s.items {
		s.types[it.number], _ = s.catalog.Kind(it.ref.APIVersion, it.ref.Kind)
	}
	if err := s.readPlaces(ctx); err != nil {
		return err
	}
	s.require()
	for _, it := range s.items { // which are served when their definition is created
		if d := s.definitionOf(it); s.types[it.number] == (graph.Type{}) && d != nil && s.wanted[d.number] &&
			s.live[d.number].empty() {
			for _, t := range d.facts.definition {
				if t.APIVersion() == it.ref.APIVersion && t.Kind == it.ref.Kind {
					s.types[it.number] = t
				}
			}
		}
	}
	if err := s.readNamespaces(ctx); err != nil {
		return err
	}
	if err := s.readOutside(ctx); err != nil {
		return err
	}
	return s.readVolumes(ctx)
}

// readPlaces reads what is in the places of the objects that are meant, of their owners, and of
// what they need.
func (s *surveyor) readPlaces(ctx context.Context) error {
	read := slices.Clone(s.wanted)
	for _, it := range s.items {
		if !s.wanted[it.number] {
			continue
		}
		for _, needed := range s.needs(it) {
			read[needed.number] = true
		}
		for _, r := range it.owners {
			if owner := s.byUID[string(r.UID)]; owner != nil {
				read[owner.number] = true
			}
		}
	}
	var targets []target
	at := map[*item]target{}
	for _, it := range s.items {
		if t := s.types[it.number]; read[it.number] && t != (graph.Type{}) {
			at[it] = target{t, it.ref.Namespace, it.ref.Name}
			targets = append(targets, at[it])
		}
	}
	found, err := look(ctx, s.client, targets)
	for it, t := range at {
		s.live[it.number] = found[t]
	}
	return err
}

// readStatuses finds out which of the objects that were restored before have no status.
func (s *surveyor) readStatuses(ctx context.Context) {
	cluster.Each(s.client, s.items, func(_ int, it *item) {
		if now, p := &s.live[it.number], s.proofs[it.number]; s.wanted[it.number] && it.facts.status &&
			(p.noted || p.copied) {
			o, err := s.client.GetObject(ctx, s.types[it.number], it.ref.Namespace, it.ref.Name)
			if err == nil && string(o.GetUID()) == now.uid { // of one that cannot be read nothing is known
				state, _, _ := unstructured.NestedMap(o.Object, "status")
				now.bare = len(state) == 0
			}
		}
	})
}

// needs are the archived namespace and CustomResourceDefinition of an object.
func (s *survey) needs(it *item) []*item {
	var all []*item
	if ns := s.places[place{kindNamespace, "", it.ref.Namespace}]; it.ref.Namespace != "" && ns != nil {
		all = append(all, ns)
	}
	if d := s.definitionOf(it); d != nil {
		all = append(all, d)
	}
	return all
}

// require adds what the objects that are meant cannot be created without.
func (s *surveyor) require() {
	for _, it := range s.items {
		if !s.wanted[it.number] {
			continue
		}
		for _, needed := range s.needs(it) {
			s.wanted[needed.number] = s.wanted[needed.number] || s.live[needed.number].empty()
		}
	}
}

// readNamespaces reads the namespaces that the archive does not have.
func (s *surveyor) readNamespaces(ctx context.Context) error {
	missing := map[string]target{}
	for _, it := range s.items {
		if ns := it.ref.Namespace; s.wanted[it.number] && ns != "" && s.places[place{kindNamespace, "", ns}] == nil {
			missing[ns] = target{Type: cluster.NamespaceType, name: ns}
		}
	}
	found, err := look(ctx, s.client, slices.Collect(maps.Values(missing)))
	s.namespaces = map[string]live{}
	for ns, t := range missing {
		s.namespaces[ns] = found[t]
	}
	return err
}

// readOutside reads the owners that the archive does not have.
func (s *surveyor) readOutside(ctx context.Context) error {
	s.outside = map[outsider]outsideOwner{}
	at := map[outsider]target{}
	var targets []target
	for _, it := range s.items {
		if !s.wanted[it.number] {
			continue
		}
		for _, r := range it.owners {
			if s.byUID[string(r.UID)] != nil {
				continue
			}
			o := outsiderOf(it, r)
			switch t, served := s.catalog.Kind(r.APIVersion, r.Kind); {
			case !served && s.isUnsure(r.APIVersion):
				s.outside[o] = outsideOwner{live: live{err: fmt.Errorf("what the server serves of %s is not known", r.APIVersion)}}
			case !served, t.Namespaced && it.ref.Namespace == "":
				s.outside[o] = outsideOwner{unserved: true}
			default:
				at[o] = target{t, o.namespace, o.name}
				if !t.Namespaced {
					at[o] = target{t, "", o.name}
				}
				targets = append(targets, at[o])
			}
		}
	}
	found, err := look(ctx, s.client, targets)
	for o, t := range at {
		s.outside[o] = outsideOwner{live: found[t]}
	}
	return err
}

// isUnsure reports whether discovery of a group failed.
func (s *surveyor) isUnsure(apiVersion string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.catalog.Gaps, func(gap v1alpha1.Gap) bool { return gap.Group == gv.Group })
}

// readVolumes reads the volumes of the claims.
func (s *surveyor) readVolumes(ctx context.Context) error {
	s.volumes = map[string]volume{}
	r, served := s.catalog.Lookup(cluster.PersistentVolumes)
	if !served {
		return nil
	}
	names := map[string]bool{}
	for _, it := range s.items {
		if s.wanted[it.number] && it.kind() == kindClaim && it.facts.volume != "" {
			names[it.facts.volume] = true
		}
	}
	var mu sync.Mutex
	cluster.Each(s.client, slices.Collect(maps.Keys(names)), func(_ int, name string) {
		v := volumeOf(ctx, s.client, r.Type, name)
		mu.Lock()
		defer mu.Unlock()
		s.volumes[name] = v
	})
	return context.Cause(ctx)
}

// live is what is in a place of the cluster now. The zero value is a place that is proven to be
// empty.
type live struct {
	uid string
	// restoredFrom is what its annotation RestoredFrom says, which anybody may have written.
	restoredFrom string
	deleting     bool
	// bare says that it has no status. It is read only where it decides.
	bare   bool
	owners []metav1.OwnerReference
	// err says why nothing is known.
	err error
}

func (l live) empty() bool { return l.uid == "" && l.err == nil }

// controlledBy reports whether the object with the uid manages the live object.
func (l live) controlledBy(uid string) bool {
	return uid != "" && slices.ContainsFunc(l.owners, func(r metav1.OwnerReference) bool {
		return IsController(r) && string(r.UID) == uid
	})
}

// controllerBesides names who manages the live object, other than the owner with the uid; empty for
// nobody.
func (l live) controllerBesides(uid string) string {
	for _, r := range l.owners {
		if IsController(r) && string(r.UID) != uid {
			return r.Kind + " " + r.Name
		}
	}
	return ""
}

// refersTo reports whether the live object has an owner with the uid.
func (l live) refersTo(uid string) bool {
	return slices.ContainsFunc(l.owners, func(r metav1.OwnerReference) bool { return string(r.UID) == uid })
}

// liveOf is what an object that was read says.
func liveOf(o *unstructured.Unstructured) live {
	return live{
		uid: string(o.GetUID()), restoredFrom: o.GetAnnotations()[RestoredFrom], deleting: o.GetDeletionTimestamp() != nil,
		owners: o.GetOwnerReferences(),
	}
}

// target is an object that is looked for.
type target struct {
	graph.Type
	namespace, name string
}

// unknownTotal stands for how many objects of a type a namespace has: a hundred of them are worth a
// list.
const unknownTotal = 1000

// look reads what is in places now. Each has an entry in the result.
func look(ctx context.Context, client *cluster.Client, targets []target) (map[target]live, error) {
	names := map[target][]string{} // by type and namespace
	found := make(map[target]live, len(targets))
	for _, t := range targets {
		if _, again := found[t]; !again {
			found[t] = live{}
			of := target{Type: t.Type, namespace: t.namespace}
			names[of] = append(names[of], t.name)
		}
	}
	var requests []cluster.ObjectRequest
	for of, names := range names {
		requests = append(requests, cluster.ObjectRequest{Type: of.Type, Namespace: of.namespace, Names: names,
			Total: unknownTotal, Metadata: true})
	}
	var mu sync.Mutex
	return found, client.TryObjects(ctx, requests, func(t graph.Type, o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		found[target{t, o.GetNamespace(), o.GetName()}] = liveOf(o)
		return nil
	}, func(e *cluster.UnreadError) error {
		mu.Lock()
		defer mu.Unlock()
		of := target{Type: e.Type, namespace: e.Namespace}
		failed := []string{e.Name}
		if e.Name == "" {
			failed = names[of]
		}
		for _, of.name = range failed {
			found[of] = live{err: e.Err}
		}
		return context.Cause(ctx)
	})
}
