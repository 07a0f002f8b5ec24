package cluster

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// DefinitionOf returns the object of a graph that is the CustomResourceDefinition of a type; false
// if none was listed.
func DefinitionOf(g *graph.Graph, t graph.Type) (graph.ID, bool) {
	return g.Find(CRDs.Group, CRDs.Resource, "", t.Resource+"."+t.Group)
}

// IsUndefined reads the CustomResourceDefinition of a type live, and says whether it is proven to
// be absent. Its own finalizer keeps a definition until all of its objects are gone
// (apiextensions-apiserver, pkg/controller/finalizer), after which nothing that is read of the type
// proves that: its paths are not served any more, and a 404 of such a path says nothing (API-054).
// Of a type of which no definition was seen before, as one of an aggregated API, it says nothing.
func (c *Client) IsUndefined(ctx context.Context, t graph.Type) bool {
	name := t.Resource + "." + t.Group
	definitions := graph.Type{Group: CRDs.Group, Version: "v1", Resource: CRDs.Resource, Kind: "CustomResourceDefinition"}
	_, err := c.GetMeta(ctx, definitions, "", name)
	return IsAbsent(err, definitions, name)
}
