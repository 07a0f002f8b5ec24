package synthetic

import (
	"encoding/json"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// discoveryType is of an aggregated discovery document, the only one there is.
const discoveryType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// discovery returns the two documents by their path.
func (w *world) discovery() map[string][]byte {
	core := []discoveryv2.APIGroupDiscovery{{}}
	var groups []discoveryv2.APIGroupDiscovery
	at := map[string]int{}
	for _, k := range w.kinds {
		list, i := &core, 0
		if k.group != "" {
			list = &groups
			n, known := at[k.group]
			if !known {
				n = len(groups)
				at[k.group] = n
				groups = append(groups, discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: k.group}})
			}
			i = n
		}
		group := &(*list)[i]
		if len(group.Versions) == 0 {
			group.Versions = []discoveryv2.APIVersionDiscovery{{Version: k.version,
				Freshness: discoveryv2.DiscoveryFreshnessCurrent}}
		}
		group.Versions[0].Resources = append(group.Versions[0].Resources, k.discovery())
	}
	return map[string][]byte{"/api": document(core), "/apis": document(groups)}
}

func (k *kind) discovery() discoveryv2.APIResourceDiscovery {
	r := discoveryv2.APIResourceDiscovery{
		Resource: k.resource, SingularResource: lower(k.kind), Verbs: k.only, Scope: discoveryv2.ScopeCluster,
		ResponseKind: &metav1.GroupVersionKind{Group: k.group, Version: k.version, Kind: k.kind},
	}
	if r.Verbs == nil {
		r.Verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	}
	if k.namespaced {
		r.Scope = discoveryv2.ScopeNamespace
	}
	return r
}

func document(groups []discoveryv2.APIGroupDiscovery) []byte {
	all, _ := json.Marshal(discoveryv2.APIGroupDiscoveryList{ // which consists of texts
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}, Items: groups,
	})
	return all
}
