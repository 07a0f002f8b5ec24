package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A discovery document cannot show what it leaves out: a version of which the aggregator knows
// nothing is published as current and without resources, and a 404 of /api counts as "no core
// group" (API-056). So that a type is not in discovery proves nothing unless something else agrees.
// This file holds what has to be there in any case, and asks once more where something is missing.
// A healthy server is asked nothing more.

var (
	errNoCore = errors.New(
		"discovery shows no namespaces: what the server serves cannot be known; check the address of the server, and try again")
	errNoGroups = errors.New(
		"discovery shows no API groups: what the server serves cannot be known; check the address of the server, and try again")
)

// coreTypes are the types of the core group that every kube-apiserver serves and that are owners or
// dependents most often.
var coreTypes = []string{"configmaps", "persistentvolumeclaims", "pods", "secrets", "serviceaccounts", "services"}

// witnesses are the types whose objects tell which other types there should be. Without them
// nothing shows whether discovery is complete. Every kube-apiserver serves both.
var witnesses = []schema.GroupResource{APIServices, CRDs}

// holdsNoObjects reports whether the types of a group are views that are computed for each request:
// nothing in them is stored, owned or deleted. An adapter that has no metrics to offer serves these
// groups without resources, on many clusters for ever (k8s.io/metrics/pkg/apis/custom_metrics,
// external_metrics).
func holdsNoObjects(group string) bool {
	return group == "custom.metrics.k8s.io" || group == "external.metrics.k8s.io"
}

// plausible is an error for an answer that no API server gives whose discovery is complete
// (RO-013). The rest of client-go's discovery takes some of them for a server without types, or
// panics.
func plausible(groups *metav1.APIGroupList) error {
	core, others := false, false
	for _, g := range groups.Groups {
		core = core || g.Name == "" && len(g.Versions) > 0
		others = others || g.Name != ""
	}
	switch {
	case !core:
		return errNoCore
	case !others:
		return errNoGroups
	}
	return nil
}

// doubts returns the versions in which there may be more types than discovery shows, and why.
func (c *Client) doubts(ctx context.Context, cat *Catalog,
	lists []*metav1.APIResourceList) map[schema.GroupVersion]error {
	doubts := map[schema.GroupVersion]error{}
	var mu sync.Mutex
	Each(c, cat.suspects(lists), func(_ int, gv schema.GroupVersion) {
		if err := c.askAgain(ctx, cat, gv); err != nil {
			mu.Lock()
			defer mu.Unlock()
			doubts[gv] = err
		}
	})
	for _, gr := range witnesses {
		gv := schema.GroupVersion{Group: gr.Group, Version: "v1"}
		if _, shown := cat.Lookup(gr); !shown && doubts[gv] == nil {
			doubts[gv] = fmt.Errorf("discovery does not show %s, without which nothing tells whether it is complete",
				gr.Resource)
		}
	}
	return doubts
}

// suspects are the versions of which discovery shows less than there ought to be.
func (cat *Catalog) suspects(lists []*metav1.APIResourceList) []schema.GroupVersion {
	var suspects []schema.GroupVersion
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err == nil && len(list.APIResources) == 0 && !holdsNoObjects(gv.Group) {
			suspects = append(suspects, gv)
		}
	}
	for _, resource := range coreTypes {
		if _, shown := cat.Lookup(schema.GroupResource{Resource: resource}); !shown {
			return append(suspects, schema.GroupVersion{Version: "v1"})
		}
	}
	return suspects
}

// askAgain reads the document of one version, which comes from whoever serves it and not from the
// aggregator. The error says why there may be types that the catalog does not have; there is none
// if the document names resources and all that can be listed are known.
func (c *Client) askAgain(ctx context.Context, cat *Catalog, gv schema.GroupVersion) error {
	doc, err := c.onceDiscovery.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	switch {
	case IsNotSaved(err):
		return err
	case err != nil:
		return fmt.Errorf("discovery does not show all of it, and its own document cannot be read: %s", message(err))
	case doc.GroupVersion != gv.String():
		return fmt.Errorf("discovery does not show all of it, and its own document is about %q", doc.GroupVersion)
	case len(doc.APIResources) == 0:
		return errors.New("it is served without any resource")
	}
	var hidden []string
	for _, r := range doc.APIResources {
		_, shown := cat.Lookup(gv.WithResource(r.Name).GroupResource())
		if !shown && !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") {
			hidden = append(hidden, r.Name)
		}
	}
	if len(hidden) > 0 {
		return fmt.Errorf("discovery does not show %s, which its own document has; try again", strings.Join(hidden, ", "))
	}
	return nil
}
