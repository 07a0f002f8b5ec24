// Package take asks a cluster for what a snapshot of it has.
package take

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Request says what a snapshot is to have besides the metadata of all objects.
type Request struct {
	Client  *cluster.Client
	Catalog *cluster.Catalog
	// Server is the address that the snapshot names.
	Server string
	// Namespace is that whose objects are listed, besides those in none; empty for all. Fallback is one
	// to look into where a type may not be listed everywhere, nor the namespaces.
	Namespace, Fallback string
	// Whole are types whose objects are saved whole, besides those of Telling: the data of Secrets and
	// ConfigMaps, too, if they are among them.
	Whole    []schema.GroupResource
	Progress func(cluster.Progress)
}

// Telling are the types whose objects are always saved whole, without the schemas of CRDs: they say
// who works on what, and what stands in the way.
var Telling = []schema.GroupResource{
	cluster.APIServices, cluster.CRDs, cluster.ClusterRoleBindings, cluster.ClusterRoles, cluster.DaemonSets,
	cluster.Deployments, cluster.EndpointSlices, cluster.Events, cluster.Leases, cluster.Namespaces, cluster.Nodes,
	cluster.PVCs, cluster.PersistentVolumes, cluster.RoleBindings, cluster.Roles, cluster.Services, cluster.StatefulSets,
	cluster.VolumeAttachments,
	{Group: admission, Resource: "mutatingadmissionpolicies"},
	{Group: admission, Resource: "mutatingadmissionpolicybindings"},
	{Group: admission, Resource: "mutatingwebhookconfigurations"},
	{Group: admission, Resource: "validatingadmissionpolicies"},
	{Group: admission, Resource: "validatingadmissionpolicybindings"},
	{Group: admission, Resource: "validatingwebhookconfigurations"},
	{Group: "networking.k8s.io", Resource: "servicecidrs"}, {Group: "storage.k8s.io", Resource: "storageclasses"},
}

// Few is up to how many objects a type has to have for them to be saved whole although nobody asked
// for that: what keeps an object is most often said by some of its own kind. Secrets and ConfigMaps
// are not.
const Few = 500

const admission = "admissionregistration.k8s.io"

// Write writes a snapshot and returns what it says of itself. What cannot be seen is a gap of it, and
// no error; objects that are being deleted are saved whole, without the data of Secrets and
// ConfigMaps that were not asked for.
func Write(ctx context.Context, r Request, to io.Writer) (*v1alpha1.Snapshot, error) {
	cluster, err := r.Client.Identity(ctx)
	if err != nil {
		return nil, err
	}
	head := snapshot.Head{Cluster: cluster, Server: r.Server, Namespace: r.Namespace, Begun: r.Client.Now().UTC(),
		Unknown: r.Catalog.Unknown()}
	for _, t := range r.Catalog.Resources {
		head.Types = append(head.Types, snapshot.Type{OtherVersions: t.OtherVersions, APIResource: metav1.APIResource{
			Group: t.Group, Version: t.Version, Name: t.Resource, Kind: t.Kind, SingularName: t.Singular,
			Namespaced: t.Namespaced, ShortNames: t.ShortNames, Categories: t.Categories, Verbs: t.Verbs}})
	}
	w, err := snapshot.NewWriter(to, head)
	if err != nil {
		return nil, err
	}
	s := &saver{Request: r, to: w, objects: map[schema.GroupResource]int{},
		deleted: map[deletedKey][]string{}}
	if err := s.lists(ctx); err != nil {
		return nil, err
	}
	end, err := w.Close(s.end)
	if err != nil {
		return nil, err
	}
	gaps := append(append([]v1alpha1.Gap{}, r.Catalog.Gaps...), end.Gaps...)
	return &v1alpha1.Snapshot{TypeMeta: v1alpha1.TypeMeta("Snapshot"), Cluster: cluster,
		TakenAt: metav1.Time{Time: head.Begun}, Types: len(head.Types), Objects: end.Objects, WholeObjects: end.Whole,
		Complete: len(gaps) == 0, Gaps: gaps, Unread: s.unread}, nil
}

// saver adds what is read to a snapshot. It is a cluster.PageSaver.
type saver struct {
	Request
	to *snapshot.Writer

	mu      sync.Mutex
	end     snapshot.End
	objects map[schema.GroupResource]int // how many were saved, with those that were discarded
	deleted map[deletedKey][]string
	err     error
	unread  []v1alpha1.Gap // types of which nothing but metadata was saved
}

type deletedKey struct {
	t         graph.Type
	namespace string
}

// lists saves the metadata of all types, and then whole objects.
func (s *saver) lists(ctx context.Context) error {
	options := cluster.ListOptions{Namespace: s.Namespace, Saver: s, Progress: s.Progress}
	if s.Fallback != "" {
		options.Fallback = []string{s.Fallback}
	}
	listed, err := s.Client.List(ctx, s.Catalog, options, graph.NewBuilder())
	if err != nil {
		return err
	}
	s.end.Gaps = listed.Gaps
	for _, at := range listed.ResumePoints {
		s.end.Lists = append(s.end.Lists, snapshot.List{Of: of(at.Type, at.Namespace), Version: at.Type.Version,
			Kind: at.Type.Kind, Namespaced: at.Type.Namespaced, ResourceVersion: at.ResourceVersion})
	}
	if len(s.end.Lists) == 0 {
		return answer.WithHint(errors.New("nothing was saved: no type could be listed"),
			"name a namespace in which you may list objects: -n NAMESPACE")
	}
	if err := s.nowhere(ctx); err != nil {
		return err
	}
	err = cluster.EachUntil(ctx, s.Client, s.wanted(), func(ctx context.Context, _ int, t graph.Type) error {
		err := s.whole(ctx, t)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.end.Contents = append(s.end.Contents, of(t, s.in(t)))
			return nil
		}
		// What could not be listed at all has been said.
		if gap, is := cluster.GapOf(ctx, t, s.in(t), err); is && !errors.Is(err, errTooMany) && !s.isGap(t) {
			gap.Message = "only the metadata of " + gap.TypeName() + " was saved: " + gap.Message
			s.unread = append(s.unread, gap)
		}
		return context.Cause(ctx)
	})
	if err == nil {
		err = s.stuck(ctx)
	}
	if err != nil {
		return err
	}
	return s.err
}

// nowhere is the server's error if it says that the namespace does not exist, and nothing was seen in
// it: a file of a mistyped one would look like that of an empty one.
func (s *saver) nowhere(ctx context.Context) error {
	for _, t := range s.Catalog.Resources {
		if t.Namespaced && s.objects[t.GroupResource()] > 0 {
			return nil
		}
	}
	r, ok := s.Catalog.Lookup(cluster.Namespaces)
	if !ok || s.Namespace == "" {
		return nil
	}
	if _, err := s.Client.GetMeta(ctx, r.Type, "", s.Namespace); cluster.IsAbsent(err, r.Type, s.Namespace) {
		return err
	}
	return nil
}

// isGap returns whether the metadata of a type could not be listed either.
func (s *saver) isGap(t graph.Type) bool {
	return slices.ContainsFunc(s.end.Gaps,
		func(g v1alpha1.Gap) bool { return g.Group == t.Group && g.Resource == t.Resource })
}

// in is the namespace in which a type is listed.
func (s *saver) in(t graph.Type) string {
	if t.Namespaced {
		return s.Namespace
	}
	return ""
}

func of(t graph.Type, namespace string) snapshot.Of {
	return snapshot.Of{Group: t.Group, Resource: t.Resource, Namespace: namespace}
}

// wanted are the types whose objects are wanted whole, of those that are served: Telling, those that
// were asked for, and those with few objects.
func (s *saver) wanted() []graph.Type {
	var types []graph.Type
	for _, t := range s.Catalog.Resources {
		resource := t.GroupResource()
		n := s.objects[resource]
		if slices.Contains(t.Verbs, "list") && (slices.Contains(s.Whole, resource) || slices.Contains(Telling, resource) ||
			n > 0 && n <= Few && !cluster.MetadataOnly(t.Type)) {
			types = append(types, t.Type)
		}
	}
	return types
}

// Page implements cluster.PageSaver.
func (s *saver) Page(t graph.Type, namespace string) (add func(item []byte), end func()) {
	items := &snapshot.Items{}
	add = func(item []byte) {
		if err := items.Add(item); err != nil {
			s.mu.Lock()
			s.err = cmp.Or(s.err, err)
			s.mu.Unlock()
		}
		if len(items.Encoded) >= entryBytes {
			s.save(t, namespace, items)
		}
	}
	return add, func() { s.save(t, namespace, items) }
}

// entryBytes is after how many bytes an entry of metadata ends: a page of a server can have 100,000
// objects, and whoever reads an entry holds all of it.
const entryBytes = 1 << 20

// save writes the objects so far, and empties the items.
func (s *saver) save(t graph.Type, namespace string, items *snapshot.Items) {
	s.to.Metadata(of(t, namespace), *items)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[t.GroupResource()] += items.Objects
	for _, o := range items.Deleted {
		key := deletedKey{t, o.Namespace}
		s.deleted[key] = append(s.deleted[key], o.Name)
	}
	*items = snapshot.Items{Encoded: items.Encoded[:0]}
}

// Discard implements cluster.PageSaver.
func (s *saver) Discard(t graph.Type, namespace string) {
	s.to.Discard(of(t, namespace))
}
