package serve

import (
	"net"
	"net/http"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
)

// contentAggregated is of discovery in one document.
const contentAggregated = contentJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func wantsAggregated(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
}

// core answers /api.
func (s *Server) core(r *http.Request) answer {
	if wantsAggregated(r) {
		return s.aggregated(func(group string) bool { return group == "" })
	}
	return found(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: s.versions("")})
}

// groups answers /apis.
func (s *Server) groups(r *http.Request) answer {
	if wantsAggregated(r) {
		return s.aggregated(func(group string) bool { return group != "" })
	}
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, group := range s.groupNames() {
		if group != "" {
			list.Groups = append(list.Groups, s.apiGroup(group))
		}
	}
	return found(list)
}

// group answers /apis/GROUP.
func (s *Server) group(name string) answer {
	g := s.apiGroup(name)
	if name == "" || len(g.Versions) == 0 {
		return notServed()
	}
	g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	return found(g)
}

func (s *Server) apiGroup(name string) metav1.APIGroup {
	g := metav1.APIGroup{Name: name}
	for _, v := range s.versions(name) {
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{Version: v,
			GroupVersion: metav1.GroupVersion{Group: name, Version: v}.String()})
	}
	if len(g.Versions) > 0 {
		g.PreferredVersion = g.Versions[0]
	}
	return g
}

// resources answers the document of one version.
func (s *Server) resources(group, version string) answer {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: metav1.GroupVersion{Group: group, Version: version}.String()}
	for _, t := range s.dump.Types {
		if t.Group == group && slices.Contains(t.Versions, version) {
			r := t.APIResource
			r.Group, r.Version = "", ""
			list.APIResources = append(list.APIResources, r)
		}
	}
	switch {
	case len(list.APIResources) > 0:
	case slices.Contains(s.dump.Aggregated, schema.GroupVersion{Group: group, Version: version}):
		return unknown("another server serves its types, which were not saved")
	default:
		return notServed()
	}
	return found(list)
}

// aggregated answers discovery in one document, of some groups.
func (s *Server) aggregated(of func(group string) bool) answer {
	list := apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList",
		APIVersion: apidiscovery.SchemeGroupVersion.String()}}
	for _, group := range s.groupNames() {
		if !of(group) {
			continue
		}
		g := apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}}
		for _, version := range s.versions(group) {
			v := apidiscovery.APIVersionDiscovery{Version: version, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
			for _, t := range s.dump.Types {
				if t.Group == group && slices.Contains(t.Versions, version) {
					v.Resources = append(v.Resources, discovered(t, version))
				}
			}
			g.Versions = append(g.Versions, v)
		}
		list.Items = append(list.Items, g)
	}
	a := found(list)
	a.contentType = contentAggregated
	return a
}

func discovered(t *dump.Type, version string) apidiscovery.APIResourceDiscovery {
	scope := apidiscovery.ScopeCluster
	if t.Namespaced {
		scope = apidiscovery.ScopeNamespace
	}
	return apidiscovery.APIResourceDiscovery{
		Resource: t.Name, SingularResource: t.SingularName, Scope: scope, Verbs: t.Verbs, ShortNames: t.ShortNames,
		Categories:   t.Categories,
		ResponseKind: &metav1.GroupVersionKind{Group: t.Group, Version: version, Kind: t.Kind},
	}
}

// groupNames are the groups of the types, in order.
func (s *Server) groupNames() []string {
	var names []string
	for _, t := range s.dump.Types {
		names = append(names, t.Group)
	}
	for _, gv := range s.dump.Aggregated {
		names = append(names, gv.Group)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// versions are those of a group: first those in which the dump has objects, and of the others the
// most stable first.
func (s *Server) versions(group string) []string {
	used := map[string]bool{}
	var all []string
	for _, t := range s.dump.Types {
		if t.Group != group {
			continue
		}
		used[t.Version] = used[t.Version] || len(t.Objects) > 0
		for _, v := range t.Versions {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	for _, gv := range s.dump.Aggregated {
		if gv.Group == group && !slices.Contains(all, gv.Version) {
			all = append(all, gv.Version)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		if used[a] != used[b] {
			if used[a] {
				return -1
			}
			return 1
		}
		return version.CompareKubeAwareVersionStrings(b, a)
	})
	return all
}

func found(v any) answer { return answer{http.StatusOK, contentJSON, net.Buffers{encode(v)}} }
