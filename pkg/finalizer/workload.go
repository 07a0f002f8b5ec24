package finalizer

import (
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

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

// lookLike says whether a workload has a name or labels of the component.
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

// IsAbout says whether the entry names a kind of a group, and not all kinds, or a kind of all
// groups.
func (k Known) IsAbout(group, kind string) bool {
	return slices.ContainsFunc(k.Kinds, func(pattern string) bool {
		ok, err := path.Match(pattern, group+"/"+kind)
		return err == nil && ok && pattern[0] != '*'
	})
}
