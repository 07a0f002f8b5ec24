package actor

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// search looks for the actor of one finalizer of one object, and gathers the signs of its life.
type search struct {
	*Finder
	about *unstructured.Unstructured
	// known is what the packs say, and alive its signs for this very object, with the placeholders
	// filled.
	known finalizer.Known
	alive finalizer.Alive
	// node is that on which the actor does its work, empty if it is not bound to one.
	node string
	signs
}

// searchFor begins a search for the actor of a finalizer that a pack knows. A pattern that the
// object has no value for is no wildcard, and is left out.
func (f *Finder) searchFor(o *unstructured.Unstructured, known finalizer.Known, name string) *search {
	fields := Fields(o, name)
	s := &search{Finder: f, about: o, known: known, node: known.NodeOf(o.Object, fields)}
	var dropped []string
	s.alive, dropped = known.Signs(fields)
	for _, pattern := range dropped {
		s.missed("the object does not say what to look for in %q", pattern)
	}
	return s
}

// isKnown reports whether a pack knows whose finalizer it is.
func (s *search) isKnown() bool { return s.known.ID != "" }

// controlPlane are the components of which a cluster has one. Those in other namespaces are of
// other clusters, whose control planes are hosted here.
var controlPlane = []string{"kube-controller-manager", "cloud-controller-manager"}

// belongs reports whether a workload or pod is of the installation that is responsible for the
// object: of several that a cluster has, the one in another namespace, or with another label, is a
// stranger.
func (s *search) belongs(namespace string, of ...map[string]string) bool {
	instance := s.alive.Instance
	if slices.Contains(controlPlane, s.known.Component) && namespace != "kube-system" &&
		!strings.HasPrefix(namespace, "openshift-") {
		return false
	}
	if ns := s.about.GetNamespace(); instance.Namespace && ns != "" && ns != namespace {
		return false
	}
	if instance.Label == "" {
		return true
	}
	value, said := s.about.GetLabels()[instance.Label]
	if !said {
		s.missed("the object has no label %s, which says who is responsible for it", instance.Label)
		return false
	}
	return slices.ContainsFunc(of, func(set map[string]string) bool { return set[instance.Label] == value })
}

// where says for use in a sentence where in the cluster something may be.
func (s *search) where() string {
	if ns := s.about.GetNamespace(); s.alive.Instance.Namespace && ns != "" {
		return "in " + ns
	}
	return "in any namespace"
}

// responsible finds who a pack says is responsible, and looks for signs of its life: first where it
// normally is, then by what the type of the object belongs to, then everywhere, then behind what it
// serves. The first that finds a living one ends the search.
func (s *search) responsible(ctx context.Context) {
	if s.known.Component == apiServer {
		s.found = true
		s.add(Sign{Life: Alive, Says: "kube-apiserver answers"})
		return
	}
	if by := s.alive.ReportedBy; by != nil && s.reported(ctx, *by) {
		return
	}
	if s.alive.Follow == finalizer.FollowCRD {
		s.byCRD(ctx)
	}
	s.usual(ctx)
	if s.life() != Alive || len(s.apart) > 0 {
		s.elsewhere(ctx)
	}
	if len(s.workloads)+len(s.apart) == 0 && s.life() != Alive {
		s.served(ctx)
	}
}

// Fields are what the placeholders of a pack are filled from, for a finalizer of an object.
func Fields(o *unstructured.Unstructured, name string) finalizer.Object {
	owners := map[string]string{}
	for _, r := range o.GetOwnerReferences() {
		owners[r.Kind] = r.Name
	}
	return finalizer.Object{
		Group: o.GroupVersionKind().Group, Namespace: o.GetNamespace(), Labels: o.GetLabels(),
		Annotations: o.GetAnnotations(), Owners: owners, Finalizer: name,
		Field: func(path string) string { return status.Nested(o, strings.Split(path, ".")...) },
	}
}

// apiServer is the component that answers, so that it is alive.
const apiServer = "kube-apiserver"

// workloadTypes are the types of workloads, as sentences name them.
var workloadTypes = []struct {
	resource schema.GroupResource
	kind     string
	names    func(finalizer.Alive) []string
}{
	{cluster.Deployments, "Deployment", func(a finalizer.Alive) []string { return a.Deployments }},
	{cluster.StatefulSets, "StatefulSet", func(a finalizer.Alive) []string { return a.StatefulSets }},
	{cluster.DaemonSets, "DaemonSet", func(a finalizer.Alive) []string { return a.DaemonSets }},
}

// usual looks for the workloads and Leases where the pack says that they are.
func (s *search) usual(ctx context.Context) {
	for _, t := range workloadTypes {
		for _, name := range t.names(s.alive) {
			for _, o := range s.named(ctx, t.resource, t.kind, name) {
				s.workload(ctx, o)
			}
		}
	}
	for _, selector := range s.alive.Labels {
		s.labelled(ctx, selector)
	}
	for _, name := range s.alive.Leases {
		s.lease(ctx, name)
	}
}

// named finds the objects that a name in a pack means: namespace/name, where both may have a "*".
func (s *search) named(ctx context.Context, resource schema.GroupResource, kind,
	pattern string) []*unstructured.Unstructured {
	namespace, name, _ := strings.Cut(pattern, "/")
	if !wild(pattern) {
		o, err := s.reader.GetObject(ctx, resource, namespace, name)
		switch {
		case err != nil:
			s.missed("%s %s cannot be read: %v", kind, pattern, err)
		case o == nil || !s.belongs(namespace, labelsOf(o)...):
			s.seek(fmt.Sprintf("%s %s in %s", kind, name, namespace))
		default:
			return []*unstructured.Unstructured{o}
		}
		return nil
	}
	selected := cluster.Selection{}
	if !wild(name) {
		selected.Fields = "metadata.name=" + name
	}
	all, err := s.reader.ListObjects(ctx, resource, "", selected)
	if err != nil {
		s.missed("%s cannot be listed: %v", resource, err)
	}
	found := slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool {
		ok, err := path.Match(pattern, o.GetNamespace()+"/"+o.GetName())
		return err != nil || !ok || !s.belongs(o.GetNamespace(), labelsOf(o)...)
	})
	if len(found) == 0 && err == nil {
		where := s.where()
		if !wild(namespace) {
			where = "in " + namespace
		}
		s.seek(fmt.Sprintf("%s %s %s", kind, name, where))
	}
	return found
}

// wild reports whether a pattern has a wildcard.
func wild(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// labelsOf returns the labels of a workload, and those of its pods.
func labelsOf(o *unstructured.Unstructured) []map[string]string {
	pods, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
	return []map[string]string{o.GetLabels(), pods}
}

// reported looks at what this cluster hears of where an actor runs, in a condition of the object that
// stands for that place. The actor lives while the condition is True, and is dead once it has been
// anything else for longer than patience. The evidence says what the condition is about, which may be
// something beside the actor. reported is false, and other signs count, where the report is one of
// those objects only that meet its Where, and there is none.
func (s *search) reported(ctx context.Context, by finalizer.Report) bool {
	name, unfilled := s.known.Fill(by.Name, Fields(s.about, ""))
	t, served := s.reader.KindIn(by.Group, by.Kind)
	if len(unfilled) > 0 || !served {
		if len(by.Where) == 0 {
			s.missed("%s, which would say what is heard of it, is not known", by.Kind)
		}
		return len(by.Where) == 0
	}
	o, err := s.reader.GetObject(ctx, t.GroupResource(), "", name)
	switch {
	case err != nil:
		s.missed("%s %s cannot be read: %v", by.Kind, name, err)
		return true
	case o == nil:
		s.unreported = by.Kind + " " + name
		s.add(Sign{Life: Unknown, Says: s.unreported + ", which would say what is heard of it, does not exist"})
		return true
	case !by.Counts(o.Object):
		return false
	}
	s.found, s.reporter = true, o
	c, said := status.Find(o, by.Condition)
	sign := Sign{Life: Unknown, From: cluster.Place(o, "status.conditions"),
		Says: fmt.Sprintf("%s has no condition %s", cluster.Located(o), by.Condition)}
	if said {
		past := s.now().Sub(c.Since)
		sign.Says = fmt.Sprintf("condition %s of %s is %s", by.Condition, cluster.Located(o), c.Status)
		if !c.Since.IsZero() {
			sign.Says += " for " + phrase.Ago(past)
		}
		if c.Message != "" {
			sign.Says += ": " + strings.TrimSuffix(c.Message, ".")
		}
		sign.Says += "; it is about the " + by.About
		switch {
		case c.Status == "True":
			sign.Life = Alive
		case c.Since.IsZero() || past < patience:
			sign.starting = true
		default:
			sign.Life = Dead
		}
	}
	s.add(sign)
	return true
}

// maxAlike is how many workloads are looked at that are recognised in the same way.
const maxAlike = 10

// alike is a workload that may be the component's.
type alike struct {
	cluster.Workload
	by likeness
}

// elsewhere looks for the component's workloads in the whole cluster: installations rename them and
// put them into other namespaces. Where it has been found in its usual place and does not live,
// another of the same name and image may.
func (s *search) elsewhere(ctx context.Context) {
	of := featuresOf(s)
	if len(of.names)+len(of.images)+len(of.slugs) == 0 {
		return
	}
	counts := func(by likeness, _ cluster.Workload) bool { return by <= byProduct }
	if len(s.workloads)+len(s.apart) > 0 { // a name alone is nothing against what was found
		counts = func(by likeness, w cluster.Workload) bool { return by <= byRelease && of.image(w) }
	}
	all, complete := s.recognised(ctx, of, counts)
	if complete && len(all) == 0 {
		s.seek(fmt.Sprintf("workload %s with the name, image or label %s", s.where(), phrase.Or(of.words(s.known.Component))))
	}
	if len(all) > 0 && all[0].by > byRelease {
		s.parts(ctx, all)
		return
	}
	for _, w := range all {
		s.take(ctx, w, &s.signs)
	}
}

// recognised returns the workloads that are recognised in the surest way of those that there are
// and count, and whether all workloads could be looked at. A type of workload that the pack does
// not name counts where none of those that it names is there.
func (s *search) recognised(ctx context.Context, of features,
	counts func(likeness, cluster.Workload) bool) (surest []alike, complete bool) {
	complete = true
	var reading sync.WaitGroup
	for _, t := range workloadTypes {
		reading.Go(func() { _, _ = s.reader.Workloads(ctx, t.resource) }) // remembered, with its error
	}
	reading.Wait()
	var all []alike
	usual := map[schema.GroupResource]bool{}
	for _, t := range workloadTypes {
		usual[t.resource] = len(t.names(s.alive)) > 0
		workloads, err := s.reader.Workloads(ctx, t.resource)
		if err != nil {
			complete = false
			s.missed("%s cannot be listed in all namespaces: %v", t.resource, err)
		}
		for _, w := range workloads {
			if by := of.of(w); counts(by, w) && s.belongs(w.Namespace, w.Labels, w.PodLabels) {
				all = append(all, alike{w, by})
			}
		}
	}
	other := func(w alike) int {
		if len(of.names) > 0 && !usual[w.Resource] && w.by > byName {
			return 1
		}
		return 0
	}
	order := func(a, b alike) int { return cmp.Or(cmp.Compare(other(a), other(b)), cmp.Compare(a.by, b.by)) }
	slices.SortStableFunc(all, order)
	for i, w := range all {
		if i == maxAlike || w.by > byRelease && order(all[0], w) != 0 {
			break
		}
		surest = append(surest, w)
	}
	return surest, complete
}

// take reads a workload that was recognised, and says into signs what it shows.
func (s *search) take(ctx context.Context, w alike, into *signs) {
	o, err := s.reader.GetObject(ctx, w.Resource, w.Namespace, w.Name)
	if err != nil {
		s.missed("%s %s/%s cannot be read: %v", w.Resource, w.Namespace, w.Name, err)
	}
	if err != nil || o == nil {
		return
	}
	part := search{Finder: s.Finder, about: s.about, known: s.known, alive: s.alive, node: s.node, signs: signs{}}
	part.workload(ctx, o)
	part.recognisedAs(w.by)
	into.merge(part.signs)
}

// parts takes in workloads that are recognised by something that several parts of an installation
// share. If some live and some do not, nothing is known of the one that matters; nor if they are
// only parts of the product.
func (s *search) parts(ctx context.Context, all []alike) {
	var together signs
	for _, w := range all {
		s.take(ctx, w, &together)
	}
	if len(together.alive) > 0 && (len(together.dead)+len(together.unsure) > 0 || all[0].by == byProduct) {
		together.unsure = slices.Concat(together.alive, together.dead, together.unsure)
		together.alive, together.dead = nil, nil
	}
	s.merge(together)
}
