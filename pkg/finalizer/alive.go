package finalizer

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Alive is where the signs of a component's life are. Deployments, StatefulSets, DaemonSets and
// Leases are written namespace/name; "*" stands for a namespace that whoever installs it chooses,
// or for a part of a name. All but the names of labels may hold placeholders, which Known.Signs
// fills. That something named here is absent proves nothing: installations rename things.
type Alive struct {
	Deployments  []string `json:"deployments,omitempty"`
	StatefulSets []string `json:"statefulSets,omitempty"`
	DaemonSets   []string `json:"daemonSets,omitempty"`
	// Labels are label selectors of its workloads and pods.
	Labels []string `json:"labels,omitempty"`
	// Images are paths of repositories of its images, without registry, tag or digest. One stands
	// for every image whose path is this or ends with a slash and this.
	Images []string `json:"images,omitempty"`
	Leases []string `json:"leases,omitempty"`
	// APIServices and Webhooks are names of APIServices and of webhook configurations that it
	// serves.
	APIServices []string `json:"apiServices,omitempty"`
	Webhooks    []string `json:"webhooks,omitempty"`
	// Unverified are those of the names above that were not checked against its source.
	Unverified []string `json:"unverified,omitempty"`
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

// Counts says whether an object of the kind is one that reports.
func (r Report) Counts(object map[string]any) bool { return met(r.Where, object) }

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

// HasWorkloads says whether some of the signs are workloads.
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

// Object is what placeholders are filled from.
type Object struct {
	// Group is that of the object's kind, empty for the core.
	Group, Namespace    string
	Labels, Annotations map[string]string
	// Owners are the names of the owners of the object, by their kinds.
	Owners map[string]string
	// Finalizer is the finalizer that is looked at.
	Finalizer string
	// Field returns the text in a field of the object, empty if there is none. Without it no field
	// is known.
	Field func(path string) string
}

// placeholder is a name in braces, with a key for some; plainName is what may stand in its place,
// so that nothing that an object says becomes a wildcard or another part of a selector.
var (
	placeholder = regexp.MustCompile(`\{([a-z]+)(?::([^{}]+))?\}`)
	plainName   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	undashed    = regexp.MustCompile(`[^A-Za-z0-9-]`)
)

// Fill puts what is known of an object in the place of a pattern's placeholders:
//
//	{group}           the API group of the object
//	{service}         the first label of the group: s3 of s3.services.k8s.aws
//	{domain}          the group without its first label: aws.upbound.io of s3.aws.upbound.io
//	{namespace}       the namespace of the object
//	{namespace:X}     what follows X in it, if it begins so
//	{open}            what the prefix, suffix or first parenthesis of the entry leaves open of the finalizer
//	{label:KEY}       the value of a label of the object
//	{annotation:KEY}  the value of an annotation of the object
//	{field:PATH}      the text in a field of the object: spec.csi.driver
//	{owner:KIND}      the name of an owner of the object, by its kind in the ownerReferences
//	{dashed:X}        what {X} is, with a hyphen for all that is neither letter nor digit
//
// It returns the placeholders that the object has no value for, or none that can be part of a name.
// The pattern means nothing then and must be left out: it is no wildcard.
func (k Known) Fill(pattern string, of Object) (filled string, unfilled []string) {
	filled = placeholder.ReplaceAllStringFunc(pattern, func(whole string) string {
		value := k.value(strings.Trim(whole, "{}"), of)
		if !plainName.MatchString(value) {
			unfilled = append(unfilled, whole)
			return whole
		}
		return value
	})
	return filled, unfilled
}

// value returns what a placeholder stands for, empty if the object does not say.
func (k Known) value(name string, of Object) string {
	name, key, _ := strings.Cut(name, ":")
	first, rest, _ := strings.Cut(of.Group, ".")
	switch name {
	case "group":
		return of.Group
	case "service":
		return first
	case "domain":
		return rest
	case "namespace":
		after, _ := strings.CutPrefix(of.Namespace, key)
		if key != "" && after == of.Namespace {
			return ""
		}
		return after
	case "open":
		return k.open(of.Finalizer)
	case "label":
		return of.Labels[key]
	case "annotation":
		return of.Annotations[key]
	case "owner":
		return of.Owners[key]
	case "field":
		if of.Field != nil {
			return of.Field(key)
		}
	case "dashed":
		return undashed.ReplaceAllString(k.value(key, of), "-")
	}
	return ""
}

// open returns what the entry leaves open of a finalizer's name.
func (k Known) open(name string) string {
	switch {
	case k.Prefix != "":
		return strings.TrimPrefix(name, k.Prefix)
	case k.Suffix != "":
		return strings.TrimSuffix(name, k.Suffix)
	case k.regex != nil:
		if m := k.regex.FindStringSubmatch(name); len(m) > 1 {
			return m[1]
		}
	}
	return ""
}

// Signs returns the signs of the component that is responsible for an object, with the placeholders
// filled, and the patterns that could not be filled and are left out.
func (k Known) Signs(of Object) (Alive, []string) {
	signs := k.Alive
	var dropped []string
	for _, list := range signs.lists() {
		var filled []string
		for _, pattern := range *list {
			name, unfilled := k.Fill(pattern, of)
			if len(unfilled) > 0 {
				dropped = append(dropped, pattern)
				continue
			}
			filled = append(filled, name)
		}
		*list = filled
	}
	return signs, dropped
}

// lists are the lists of patterns, to be read or replaced.
func (a *Alive) lists() []*[]string {
	return []*[]string{&a.Deployments, &a.StatefulSets, &a.DaemonSets, &a.Labels, &a.Images, &a.Leases, &a.APIServices,
		&a.Webhooks, &a.Unverified}
}
