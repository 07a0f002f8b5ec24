package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
)

// Resource is one type that a server serves.
type Resource struct {
	graph.Type
	// OtherVersions are the versions besides Version that serve it too, in the server's order of
	// preference.
	OtherVersions []string
	Singular      string
	ShortNames    []string
	Categories    []string
	Verbs         []string
}

// Deletable reports whether the garbage collector watches the type: it can be listed, watched and
// deleted (GC-001), and is not an event (GC-003).
func (r Resource) Deletable() bool {
	if r.Resource == "events" && (r.Group == "" || r.Group == "events.k8s.io") {
		return false
	}
	return slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch") && slices.Contains(r.Verbs, "delete")
}

// Catalog is what discovery says that a server serves: one entry for each group and resource, in
// its preferred version.
type Catalog struct {
	Resources []Resource
	// Gaps are the group-versions whose discovery failed, or does not show what it has to.
	Gaps []v1alpha1.Gap

	groupVersions map[schema.GroupVersion]bool // known to discovery; false for those that make a gap
	index         map[schema.GroupResource]int
	kinds         map[schema.GroupVersionKind][]graph.Type
	// partial says that it is of a dump without all CustomResourceDefinitions: any custom group can
	// have more types.
	partial bool
}

// Discover asks the server what it serves. A group that fails, or of which discovery does not show
// what it has to, is a gap in the result. The error is for a server that cannot be asked at all, or
// whose answer cannot be all that it serves: one without the core group among them (RO-013). It
// ends with ctx.
func (c *Client) Discover(ctx context.Context) (*Catalog, error) {
	// The first request runs the credential plugin of a kubeconfig, which client-go gives no
	// context.
	cat, err := interrupt.Do(ctx, func() (*Catalog, error) { return c.discover(ctx) })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // what was not answered any more looks like a group that fails
	}
	return cat, err
}

func (c *Client) discover(ctx context.Context) (*Catalog, error) {
	var versioned sync.WaitGroup
	versioned.Go(func() { c.pageSizes(ctx) }) // meanwhile, so that the first list does not wait for it
	defer versioned.Wait()
	found := c.onceDiscovery.ask(ctx)
	if found.err != nil {
		return nil, fmt.Errorf("asking the server which types it serves: %w", explainForbidden(found.err))
	}
	if err := plausible(found.groups); err != nil {
		return nil, err
	}
	cached := discovery.ToDiscoveryInterfaceWithContext(c.discovery)
	_, all, err := cached.ServerGroupsAndResourcesWithContext(ctx)
	failed, err := failedGroups(err)
	if err != nil {
		return nil, err
	}
	preferred, err := discovery.ServerPreferredResourcesWithContext(ctx, cached)
	if _, err := failedGroups(err); err != nil {
		return nil, err
	}
	cat := &Catalog{groupVersions: map[schema.GroupVersion]bool{}, index: map[schema.GroupResource]int{},
		kinds: map[schema.GroupVersionKind][]graph.Type{}}
	cat.addResources(preferred)
	cat.addVersions(all)
	if _, shown := cat.Lookup(schema.GroupResource{Resource: NamespaceType.Resource}); !shown {
		return nil, errNoCore
	}
	incomplete := c.doubts(ctx, cat, all)
	if crds, shown := cat.Lookup(CRDs); shown && c.IsStill() {
		_, err := c.ForEachMeta(ctx, crds.Type, "", func(*graph.Object) {})
		cat.partial = err != nil
	}
	for gv, err := range failed {
		if !cat.groupVersions[gv] { // an answer without resources counts as failed, too, and is in doubt already
			incomplete[gv] = err
		}
	}
	maps.Copy(incomplete, found.failed) // which is lost on the way if only one of the two documents is aggregated
	for gv, err := range incomplete {
		cat.groupVersions[gv] = false
		reason := v1alpha1.GapDiscoveryFailed
		if IsNotSaved(err) {
			reason = v1alpha1.GapNotSaved
		}
		cat.Gaps = append(cat.Gaps, v1alpha1.Gap{Resource: "*", Group: gv.Group, Reason: reason,
			Message: gv.String() + ": " + err.Error()})
	}
	slices.SortFunc(cat.Gaps, func(a, b v1alpha1.Gap) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Message, b.Message))
	})
	return cat, nil
}

// failedGroups takes the group-versions that failed out of a discovery error and returns what else
// is wrong.
func failedGroups(err error) (map[schema.GroupVersion]error, error) {
	if err == nil {
		return nil, nil
	}
	if failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err); ok {
		return failed, nil
	}
	return nil, err
}

func (cat *Catalog) addResources(lists []*metav1.APIResourceList) {
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue // as the collector does (GC-002)
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			cat.index[gv.WithResource(r.Name).GroupResource()] = len(cat.Resources)
			cat.Resources = append(cat.Resources, Resource{
				Type: graph.Type{Group: gv.Group, Version: gv.Version, Resource: r.Name, Kind: r.Kind,
					Namespaced: r.Namespaced},
				Singular: r.SingularName, ShortNames: r.ShortNames, Categories: r.Categories, Verbs: r.Verbs,
			})
		}
	}
	// Map order must not reach the output, and the types with the most objects had best begin
	// first.
	slices.SortFunc(cat.Resources, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), strings.Compare(a.Group, b.Group),
			strings.Compare(a.Resource, b.Resource))
	})
	for i, r := range cat.Resources {
		cat.index[r.GroupResource()] = i
	}
}

// weight puts the types of which a cluster has most before the others, so that a long list does not
// begin last.
func weight(r Resource) int {
	if r.Group == "" && r.Resource == "pods" || r.Group == "apps" && r.Resource == "replicasets" {
		return 0
	}
	return 1
}

func (cat *Catalog) addVersions(lists []*metav1.APIResourceList) {
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		cat.groupVersions[gv] = true
		for _, r := range list.APIResources {
			i, ok := cat.index[gv.WithResource(r.Name).GroupResource()]
			if ok && cat.Resources[i].Version != gv.Version {
				cat.Resources[i].OtherVersions = append(cat.Resources[i].OtherVersions, gv.Version)
			}
			if ok && slices.Contains(r.Verbs, "get") {
				gvk := gv.WithKind(r.Kind)
				cat.kinds[gvk] = append(cat.kinds[gvk], graph.Type{
					Group: gv.Group, Version: gv.Version, Resource: r.Name, Kind: r.Kind, Namespaced: r.Namespaced,
				})
			}
		}
	}
}

// Lookup returns the type of a group and resource.
func (cat *Catalog) Lookup(gr schema.GroupResource) (Resource, bool) {
	i, ok := cat.index[gr]
	if !ok {
		return Resource{}, false
	}
	return cat.Resources[i], true
}

// Omits reports whether discovery proves that a type is not served: the group is there, and nothing
// of it failed or is in doubt. Of a group that is not there it proves nothing (API-056).
func (cat *Catalog) Omits(gr schema.GroupResource) bool {
	_, shown := cat.Lookup(gr)
	if shown || cat.failed(gr.Group) || cat.partial && !BuiltIn(gr.Group) {
		return false
	}
	for gv := range cat.groupVersions {
		if gv.Group == gr.Group {
			return true
		}
	}
	return false
}

// Unknown returns the versions of which discovery does not say which types they have, in order.
func (cat *Catalog) Unknown() []schema.GroupVersion {
	var all []schema.GroupVersion
	for gv, shown := range cat.groupVersions {
		if !shown {
			all = append(all, gv)
		}
	}
	slices.SortFunc(all, func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// Kind returns the one type that serves exactly this kind in exactly this version and can be read.
// It is false where there is none, or more than one: what an ownerReference means is then not
// known, whatever a RESTMapper would make of it (RO-004, T-02, X-07).
func (cat *Catalog) Kind(apiVersion, kind string) (graph.Type, bool) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return graph.Type{}, false
	}
	types := cat.kinds[gv.WithKind(kind)]
	if len(types) != 1 {
		return graph.Type{}, false
	}
	return types[0], true
}

// BuiltIn reports whether an API group is one of Kubernetes' own, as far as client-go knows them:
// no CRD defines its types.
func BuiltIn(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == CRDs.Group || group == APIServices.Group
}

// forbiddenDiscovery is a 403 of discovery. client-go does not read the Status in such an answer
// and leaves "unknown" for a message.
type forbiddenDiscovery struct{ err error }

// Error names the requests that discovery sends; which of them was refused is lost.
func (e *forbiddenDiscovery) Error() string { return "GET /api or GET /apis is forbidden" }

// Unwrap returns what is left of the server's answer.
func (e *forbiddenDiscovery) Unwrap() error { return e.err }

// explainForbidden says of a 403 of discovery what is forbidden and what to ask for. Any other
// error stays as it is.
func explainForbidden(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	forbidden := error(&forbiddenDiscovery{err})
	if message := err.Error(); message != "unknown" { // a proxy's, as text
		forbidden = fmt.Errorf("%w: %s", forbidden, message)
	}
	return answer.WithHint(forbidden,
		"ask an administrator of the cluster to bind the ClusterRole system:discovery to you")
}

// onceDiscovery asks the server once and remembers the answer, an error too. client-go's memory
// cache, which stands in front of it, would log the error besides returning it.
type onceDiscovery struct {
	*discovery.DiscoveryClient
	answered answered[discovered]
}

type discovered struct {
	groups    *metav1.APIGroupList
	resources map[schema.GroupVersion]*metav1.APIResourceList
	failed    map[schema.GroupVersion]error
	err       error
}

func (d *onceDiscovery) ask(ctx context.Context) discovered {
	return d.answered.once(ctx, func() (a discovered) {
		a.groups, a.resources, a.failed, a.err = d.DiscoveryClient.GroupsAndMaybeResourcesWithContext(ctx)
		if a.err == nil && a.resources == nil {
			klog.FromContext(
				ctx).V(1).Info("The server does not answer discovery in two documents, so each group version is asked for",
				"groups", len(a.groups.Groups))
		}
		return a
	})
}

// GroupsAndMaybeResourcesWithContext implements discovery.AggregatedDiscoveryInterfaceWithContext.
func (d *onceDiscovery) GroupsAndMaybeResourcesWithContext(ctx context.Context) (*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	a := d.ask(ctx)
	return a.groups, a.resources, a.failed, a.err
}
