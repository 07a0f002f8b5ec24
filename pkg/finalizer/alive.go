package finalizer

import (
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Alive is where the signs of a component's life are. All but the names of labels may hold
// placeholders, which Known.Signs fills. That something named here is absent proves nothing:
// installations rename things.
type Alive struct {
	v1alpha1.SignPatterns `json:",inline"`
	// Instance says which of several installations is responsible for an object.
	Instance Instance `json:"instance,omitzero"`
	// Outside means that it runs outside the cluster, always or usually: that it is not seen in the
	// cluster says nothing then.
	Outside bool `json:"outside,omitempty"`
	// ReportedBy is an object of this cluster that says what is heard from where it runs: nothing else
	// here does. Nil if there is none.
	ReportedBy *Report `json:"reportedBy,omitempty"`
	// Follow is how it is found from the type of the object, empty if it is not.
	Follow Follow `json:"follow,omitempty"`
	// Note is what else there is to say of where it runs, in sentences.
	Note string `json:"note,omitempty"`
}

// Instance ties an object to one of several installations of a component. The zero value means that
// any is responsible.
type Instance struct {
	// Namespace means that only the installation in the object's own namespace is responsible.
	Namespace bool `json:"namespace,omitempty"`
	// Label is the key of a label that the object and the workload both carry, with the same value.
	Label string `json:"label,omitempty"`
}

// Report is an object with a condition that says what is heard from where a component runs.
type Report struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	// Name may hold placeholders. The kind is cluster-scoped.
	Name      string `json:"name"`
	Condition string `json:"condition"`
	// About is what the condition is about.
	About string `json:"about"`
	// Where are conditions on it, all of which have to be met; otherwise the component is looked for
	// as if it did not report.
	Where []link.Condition `json:"where,omitempty"`
}

// Counts reports whether an object of the kind is one that reports.
func (r Report) Counts(object map[string]any) bool { return link.AllMet(r.Where, object) }

// Follow is how a component is found from the type of an object.
type Follow string

// FollowCRD finds it through the owners of the CRD of the object's type, such as a ProviderRevision
// of Crossplane or a ClusterServiceVersion of OLM.
const FollowCRD Follow = "definition"

var follows = []Follow{"", FollowCRD}

// named are the names with a namespace.
func (a Alive) named() []string {
	return slices.Concat(a.Deployments, a.StatefulSets, a.DaemonSets, a.Leases)
}

// HasWorkloads reports whether some of the signs are workloads.
func (a Alive) HasWorkloads() bool {
	return len(a.Deployments)+len(a.StatefulSets)+len(a.DaemonSets)+len(a.Labels)+len(a.Images) > 0
}

// Of returns what is known of the finalizers that a Deployment, StatefulSet or DaemonSet may
// remove: of components that it looks like a part of, by its name or its labels. Names that depend
// on the object that has the finalizer are not compared.
func (r *Registry) Of(kind, namespace, name string, has ...map[string]string) []Known {
	var all []Known
	for _, pack := range r.Packs() {
		for _, k := range pack.Finalizers {
			if !k.Fallback && k.Alive.lookLike(kind, namespace+"/"+name, has) {
				all = append(all, k)
			}
		}
	}
	return all
}

// lookLike reports whether a workload has a name or labels of the component.
func (a Alive) lookLike(kind, name string, has []map[string]string) bool {
	names := map[string][]string{"Deployment": a.Deployments, "StatefulSet": a.StatefulSets,
		"DaemonSet": a.DaemonSets}[kind]
	if slices.ContainsFunc(names, func(pattern string) bool {
		return !placeholder.MatchString(pattern) && matches(pattern, name)
	}) {
		return true
	}
	return slices.ContainsFunc(a.Labels, func(selector string) bool {
		s, err := labels.Parse(selector)
		return err == nil && !placeholder.MatchString(selector) &&
			slices.ContainsFunc(has, func(set map[string]string) bool { return s.Matches(labels.Set(set)) })
	})
}

// IsAbout reports whether the entry names a kind of a group, and not all kinds, or a kind of all
// groups.
func (k Known) IsAbout(group, kind string) bool {
	return slices.ContainsFunc(k.Kinds, func(pattern string) bool {
		ok, err := path.Match(pattern, group+"/"+kind)
		return err == nil && ok && pattern[0] != '*'
	})
}
