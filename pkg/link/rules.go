package link

import (
	"iter"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// The rules, as they are named on edges in output.
const (
	// CRD: a CustomResourceDefinition takes all its instances along; the API server deletes them
	// (API-060).
	CRD = "crd"
	// Namespace: a namespace takes its content along; the namespace controller deletes it (NS-001).
	Namespace = "namespace"
)

// CRDFinalizer keeps a CustomResourceDefinition until its instances are gone (API-060).
const CRDFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// Rule is a way in which objects go with another though no ownerReference says so: which objects
// these are, and how a deletion travels to them. Tree, plan and why read it here; none of them
// knows of a type.
type Rule struct {
	// Name is that of the edges.
	Name string
	// Group and Resource are the owner's type.
	Group, Resource string
	// Inside are all objects that go with the owner, of which those that nothing else in there owns
	// are the dependents. It is nil if dependents finds them.
	Inside func(g *graph.Graph, owner graph.Ref) iter.Seq[graph.ID]
	// dependents are the objects that go with the owner. It is nil if there is an Inside.
	dependents func(l *Links, owner graph.Ref) []graph.ID
	// Finalizer keeps the owner until they are gone; empty if something else does, such as
	// spec.finalizers of a namespace.
	Finalizer string
	// IgnoresPolicy says that the owner's deletion goes its own way whatever the propagation
	// policy.
	IgnoresPolicy bool
	// Reason is the plan.ReasonCode of their deletion; pkg/render has its sentence.
	Reason string
	// First says which of them have to be gone before the others are deleted; nil for none.
	First func(graph.Ref) bool
	// Background says that they are deleted in the background, and once more if they wait for their
	// dependents or orphan them. Otherwise they are deleted with no policy, so that the finalizers
	// of the collector that they have decide, and once.
	Background bool
	// Finalizes says that whoever deletes them finalizes the owner with a write of its own.
	Finalizes bool
}

// rules has an entry for each way.
var rules = []Rule{
	{
		Name: CRD, Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions",
		dependents:    instances,
		Finalizer:     CRDFinalizer,
		IgnoresPolicy: true, // API-060
		Reason:        "Definition",
	},
	{
		Name: Namespace, Resource: "namespaces",
		Inside:     func(g *graph.Graph, owner graph.Ref) iter.Seq[graph.ID] { return g.InNamespace(owner.Name) },
		Reason:     "Content",
		First:      func(r graph.Ref) bool { return r.Resource == "pods" && r.Group() == "" }, // NS-013
		Background: true,                                                                      // NS-014
		Finalizes:  true,
	},
}

// Rules returns all rules.
func Rules() []Rule { return slices.Clone(rules) }

// Of returns the rule by which other objects go with an object; false if none do.
func Of(owner graph.Ref) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Resource == owner.Resource && r.Group == owner.Group() })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// instances are the objects of the type that a CRD is named after.
func instances(l *Links, crd graph.Ref) []graph.ID {
	plural, group, _ := strings.Cut(crd.Name, ".")
	l.index()
	return l.byType[groupResource{group, plural}]
}
