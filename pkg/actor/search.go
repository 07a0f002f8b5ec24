package actor

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
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
