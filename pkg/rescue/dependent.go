package rescue

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Reference is a reference of a dependent to the object, as it was before the rescue.
type Reference struct {
	metav1.OwnerReference
	// Index is its place in metadata.ownerReferences, from 0.
	Index int
}

// Dependent is an object with references to the one that is rescued.
type Dependent struct {
	Type       graph.Type
	Ref        graph.Ref
	References []Reference
	// Recorded says that an archive has the references.
	Recorded bool
	// Released says that the references were not there when it was read last: they were removed, by
	// this rescue or by the collector.
	Released bool
}

// found takes the references as they are, which no archive has if they have changed.
func (d *Dependent) found(exact []Reference) {
	d.Recorded = d.Recorded && reflect.DeepEqual(d.References, exact)
	d.References = exact
}

// blocks says whether one of the references has blockOwnerDeletion, which can take a right of its
// own (API-037).
func (d *Dependent) blocks() bool {
	return slices.ContainsFunc(d.References,
		func(r Reference) bool { return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion })
}

// referencesTo are the references of an object to an owner, in their order.
func referencesTo(o *unstructured.Unstructured, uid string) []Reference {
	var all []Reference
	for i, r := range o.GetOwnerReferences() {
		if string(r.UID) == uid {
			all = append(all, Reference{r, i})
		}
	}
	return all
}

// dependentsOf are the dependents that a graph has of an owner. Their references are as far as the
// graph knows them.
func dependentsOf(g *graph.Graph, uid string) []*Dependent {
	owner, known := g.Lookup(uid)
	if !known {
		return nil
	}
	at := map[graph.ID]*Dependent{}
	var all []*Dependent
	for e := range g.Dependents(owner) {
		if !g.Observed(e.Dependent) {
			continue
		}
		d := at[e.Dependent]
		if d == nil {
			t, _ := g.Type(e.Dependent)
			d = &Dependent{Type: t, Ref: g.Ref(e.Dependent)}
			at[e.Dependent] = d
			all = append(all, d)
		}
		d.References = append(d.References, referenceOf(g, e))
	}
	return all
}

// referenceOf is the reference that an edge stands for.
func referenceOf(g *graph.Graph, e graph.Edge) Reference {
	r := Reference{OwnerReference: metav1.OwnerReference{APIVersion: e.APIVersion, Kind: e.Kind, Name: e.Name,
		UID: types.UID(g.Ref(e.Owner).UID)}, Index: g.Place(e)}
	if e.Controller {
		r.Controller = &e.Controller
	}
	if e.Block {
		r.BlockOwnerDeletion = &e.Block
	}
	return r
}
