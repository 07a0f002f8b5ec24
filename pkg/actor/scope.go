package actor

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Variables and flags that say which namespaces a controller watches: those of operator-sdk,
// controller-runtime's projects, Strimzi, ingress controllers and Config Connector. Others say
// which labels the objects have that it watches: those of Flux, Grafana and Sealed Secrets.
var (
	scopeVariables = []string{"WATCH_NAMESPACE", "WATCH_NAMESPACES", "WATCHED_NAMESPACE", "WATCHED_NAMESPACES",
		"STRIMZI_NAMESPACE"}
	scopeFlags        = []string{"namespace", "namespaces", "watch-namespace", "watch-namespaces", "scoped-namespace"}
	selectorVariables = []string{"WATCH_LABEL_SELECTORS"}
	selectorFlags     = []string{"watch-label-selector", "label-selector", "watch-selector"}
)

// Scope is a setting of a workload that says which objects it watches.
type Scope struct {
	Workload *unstructured.Unstructured
	// Setting is the variable or the flag, and Value what it is.
	Setting, Value string
	// Variable says that it is a variable.
	Variable bool
	// Selector says that it is about labels and not about namespaces.
	Selector bool
	// namespaces are those of the value, nil if they cannot be told; all says that they are all.
	namespaces []string
	all        bool
	selector   labels.Selector // nil if it cannot be told
}

// includes reports whether the controller watches an object, as far as it can be told.
func (s Scope) includes(o *unstructured.Unstructured) (watches, known bool) {
	switch {
	case s.Selector && s.selector != nil:
		return s.selector.Matches(labels.Set(o.GetLabels())), true
	case s.Selector:
		return false, false
	case s.all || o.GetNamespace() == "":
		return true, true
	}
	return slices.Contains(s.namespaces, o.GetNamespace()), s.namespaces != nil
}

// watches says what the controller watches, as what follows its name in a sentence.
func (s Scope) watches() string {
	if s.Selector {
		return fmt.Sprintf("watches only objects that the label selector %q selects (%s)", s.Value, s.Setting)
	}
	return fmt.Sprintf("watches namespace %s only (%s)", s.Value, s.Setting)
}

// Observation is the evidence.
func (s Scope) Observation() v1alpha1.Observation {
	name := cluster.Located(s.Workload)
	return v1alpha1.Observation{Says: name + " " + s.watches(), From: name + " spec.template.spec.containers"}
}

// Missed says what of an object is not as the setting wants it, and where that is read.
func (s Scope) Missed(o *unstructured.Unstructured) v1alpha1.Observation {
	if !s.Selector {
		return v1alpha1.Observation{Says: "the object is in namespace " + o.GetNamespace()}
	}
	var says []string
	for _, r := range s.requirements() {
		if r.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		if value, has := o.GetLabels()[r.Key()]; has {
			says = append(says, fmt.Sprintf("label %s of the object is %q", r.Key(), value))
		} else {
			says = append(says, "the object has no label "+r.Key())
		}
	}
	return v1alpha1.Observation{Says: strings.Join(says, " and "), From: cluster.Place(o, "metadata.labels")}
}

// Label returns what kubectl label sets so that the selector selects the object, false if that is
// not one label with one value, or none of one key.
func (s Scope) Label() (string, bool) {
	all := s.requirements()
	if len(all) != 1 {
		return "", false
	}
	values := all[0].ValuesUnsorted()
	switch all[0].Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		return all[0].Key() + "=" + strings.Join(values, ","), len(values) == 1
	case selection.DoesNotExist:
		return all[0].Key() + "-", true
	}
	return "", false
}

func (s Scope) requirements() labels.Requirements {
	if s.selector == nil {
		return nil
	}
	all, _ := s.selector.Requirements()
	return all
}

// leavesOut returns the setting of a workload that leaves an object out of what it watches; false
// if none is known to. Settings about namespaces add up, and one that cannot be told may be for
// all.
func leavesOut(w, o *unstructured.Unstructured) (Scope, bool) {
	var out []Scope
	maybe := false
	for _, s := range scopesOf(w) {
		switch watches, known := s.includes(o); {
		case s.Selector && known && !watches:
			return s, true
		case s.Selector:
		case watches || !known:
			maybe = true
		default:
			out = append(out, s)
		}
	}
	if maybe || len(out) == 0 {
		return Scope{}, false
	}
	return out[0], true
}

// NotWatching returns the settings that leave an object out of what its actor watches, those that
// are about its labels first, nil if it may be watched. The parts of an installation that say
// nothing, such as its webhook, do not speak against it; another that may watch all namespaces
// does, and so does one of the same program.
func (a Actor) NotWatching(o *unstructured.Unstructured) []Scope {
	if a.Life != Alive {
		return nil
	}
	var out []Scope
	var silent []*unstructured.Unstructured // those that say nothing
	for _, w := range slices.Concat(a.Workloads, a.Apart) {
		s, left := leavesOut(w, o)
		switch {
		case !running(w) || slices.ContainsFunc(out, func(s Scope) bool { return s.Workload == w }):
		case left:
			out = append(out, s)
		case len(scopesOf(w)) > 0:
			return nil
		default:
			silent = append(silent, w)
		}
	}
	for _, w := range silent {
		if !slices.ContainsFunc(out, func(s Scope) bool { return s.Workload.GetNamespace() == w.GetNamespace() }) ||
			slices.ContainsFunc(out, func(s Scope) bool { return sameProgram(s.Workload, w) }) {
			return nil
		}
	}
	slices.SortStableFunc(out, func(a, b Scope) int { // one that watches other namespaces is further away
		switch {
		case a.Selector == b.Selector:
			return 0
		case a.Selector:
			return -1
		}
		return 1
	})
	return out
}

// sameProgram reports whether two workloads run an image of the same name.
func sameProgram(a, b *unstructured.Unstructured) bool {
	images := map[string]bool{}
	for _, c := range containersOf(a) {
		images[c.image] = c.image != ""
	}
	return slices.ContainsFunc(containersOf(b), func(c container) bool { return images[c.image] })
}

// scopesOf reads the settings of a workload.
func scopesOf(w *unstructured.Unstructured) []Scope {
	var all []Scope
	for _, c := range containersOf(w) {
		for _, name := range slices.Concat(scopeVariables, selectorVariables) {
			if v, ok := c.env[name]; ok {
				s := scopeOf(w, name, v, slices.Contains(selectorVariables, name))
				s.Variable = true
				all = append(all, s)
			}
		}
		for i, arg := range c.args {
			name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			selects := slices.Contains(selectorFlags, name)
			switch {
			case !strings.HasPrefix(arg, "-"):
				continue
			case name == "watch-all-namespaces" && value == "false": // Flux
				all = append(all, scopeOf(w, "--watch-all-namespaces=false", setting{w.GetNamespace(), true}, false))
				continue
			case !selects && !slices.Contains(scopeFlags, name):
				continue
			case !given && i+1 < len(c.args):
				value = c.args[i+1]
			}
			v := c.expanded(value)
			if name == "namespace" && v.value == w.GetNamespace() {
				v.known = false // with many it is where they run, or where their Lease is
			}
			all = append(all, scopeOf(w, "--"+name, v, selects))
		}
	}
	return all
}

// watchesByName reports whether a setting of a workload names a namespace as one that it watches.
func watchesByName(w *unstructured.Unstructured, namespace string) bool {
	return namespace != "" && slices.ContainsFunc(scopesOf(w),
		func(s Scope) bool { return slices.Contains(s.namespaces, namespace) })
}

func scopeOf(w *unstructured.Unstructured, name string, v setting, selects bool) Scope {
	s := Scope{Workload: w, Setting: name, Value: v.value, Selector: selects}
	switch {
	case !v.known:
		return s
	case selects:
		s.selector, _ = labels.Parse(v.value)
		return s
	}
	s.namespaces = []string{}
	for namespace := range strings.SplitSeq(v.value, ",") {
		namespace = strings.TrimSpace(namespace)
		s.all = s.all || namespace == "" || namespace == "*"
		s.namespaces = append(s.namespaces, namespace)
	}
	return s
}
