package actor

import (
	"cmp"
	"context"
	"fmt"
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

// Part is an object that an actor needs to remove a finalizer.
type Part struct {
	Resource        schema.GroupResource
	Namespace, Name string
}

// Parts are, for each workload that removes a finalizer of an object, the objects that it needs to
// do so: itself, its ServiceAccount, and the binding and the role that permit it, where only one
// binding does. If each lacks one of them, nobody removes the finalizer. It is nil where nothing
// can be concluded: no workload was found, not all could be looked at, or the actor normally runs
// outside the cluster.
func (f *Finder) Parts(ctx context.Context, o *unstructured.Unstructured, a Actor) [][]Part {
	if a.Outside || len(a.Unread) > 0 {
		return nil
	}
	workloads := a.Workloads
	switch {
	case !a.IsKnown && len(workloads) == 0:
		workloads = f.permittedWorkloads(ctx, o)
	case a.IsKnown && len(workloads) > 0:
		// The search for signs of life ends with the first that lives, and there may be another
		// installation.
		s := f.searchFor(o, a.Known, a.Finalizer)
		s.usual(ctx)
		s.elsewhere(ctx)
		if len(s.unread) > 0 {
			return nil
		}
		workloads = append(slices.Clone(workloads), s.workloads...)
	}
	var all [][]Part
	for _, w := range workloads {
		if slices.ContainsFunc(a.Scaled, func(s *unstructured.Unstructured) bool { return s.GetUID() == w.GetUID() }) {
			continue
		}
		all = append(all, f.partsOf(ctx, o, w))
	}
	return all
}

// permittedWorkloads are the workloads that RBAC lets remove the finalizers of an object, where it
// is known that nobody else may but those who may write everything: none of these may be a
// ServiceAccount.
func (f *Finder) permittedWorkloads(ctx context.Context, o *unstructured.Unstructured) []*unstructured.Unstructured {
	found, ok := f.Permitted(ctx, o)
	if !ok || len(found.Unread) > 0 || found.Anybody != "" || found.Everything > 0 {
		return nil
	}
	var all []*unstructured.Unstructured
	for _, account := range found.Accounts {
		if !account.Finalizers {
			all = append(all, account.Workloads...)
		}
	}
	return all
}

// partsOf are what a workload needs to remove a finalizer of an object.
func (f *Finder) partsOf(ctx context.Context, o, w *unstructured.Unstructured) []Part {
	parts := []Part{{f.resourceOf(w), w.GetNamespace(), w.GetName()}}
	t, ok := f.reader.Kind(o.GetAPIVersion(), o.GetKind())
	if !ok || mayHaveOtherPermissions(w) {
		return parts
	}
	account := Account(w)
	parts = append(parts, Part{cluster.ServiceAccounts, account.Namespace, account.Name})
	return append(parts, f.policyOf(ctx, o.GetNamespace()).permission(account, target{t.Group, t.Resource, o.GetName()},
		o.GetNamespace())...)
}

// resourceOf is the type of a workload.
func (f *Finder) resourceOf(w *unstructured.Unstructured) schema.GroupResource {
	t, _ := f.reader.Kind(w.GetAPIVersion(), w.GetKind())
	return schema.GroupResource{Group: t.Group, Resource: t.Resource}
}

// permission is the one binding, with its role, that lets an account update or patch the target;
// nothing if there is none, or more than one.
func (p policy) permission(a cluster.ServiceAccount, t target, namespace string) []Part {
	if len(p.unread) > 0 {
		return nil
	}
	var only []Part
	for _, g := range p.grants {
		if object, _, _ := g.allows(t); len(object) == 0 {
			continue
		}
		named := slices.Contains(g.accounts, a) || slices.Contains(g.accounts, cluster.ServiceAccount{Namespace: a.Namespace})
		switch {
		case g.anybody || named && only != nil:
			return nil
		case named:
			only = []Part{partNamed(g.binding, namespace), partNamed(g.role, namespace)}
		}
	}
	return only
}

// partNamed is a binding or a role, as grants name it: "RoleBinding op".
func partNamed(title, namespace string) Part {
	kind, name, _ := strings.Cut(title, " ")
	resource := map[string]schema.GroupResource{
		"RoleBinding": cluster.RoleBindings, "ClusterRoleBinding": cluster.ClusterRoleBindings, "Role": cluster.Roles,
		"ClusterRole": cluster.ClusterRoles,
	}[kind]
	if strings.HasPrefix(kind, "Cluster") {
		namespace = ""
	}
	return Part{resource, namespace, name}
}

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

// controlPlane are the components of which a cluster has one. Those in other namespaces are of
// other clusters, whose control planes are hosted here.
var controlPlane = []string{"kube-controller-manager", "cloud-controller-manager"}

// belongs says whether a workload or pod is of the installation that is responsible for the object:
// of several that a cluster has, the one in another namespace, or with another label, is a
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
