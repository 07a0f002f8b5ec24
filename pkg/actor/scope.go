package actor

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Variables and flags that say which namespaces a controller watches: those of operator-sdk,
// controller-runtime's projects, Strimzi and ingress controllers.
var (
	scopeVariables = []string{"WATCH_NAMESPACE", "WATCH_NAMESPACES", "WATCHED_NAMESPACE", "WATCHED_NAMESPACES",
		"STRIMZI_NAMESPACE"}
	scopeFlags = []string{"namespace", "namespaces", "watch-namespace", "watch-namespaces"}
)

// Scope is a setting of a workload that says which namespaces it watches.
type Scope struct {
	Workload *unstructured.Unstructured
	// Setting is the variable or the flag, and Value what it is.
	Setting, Value string
	// Variable says that it is a variable.
	Variable bool
	// namespaces are those of the value, nil if they cannot be told; all says that they are all.
	namespaces []string
	all        bool
}

// includes says whether the controller watches a namespace, as far as it can be told.
func (s Scope) includes(namespace string) (watches, known bool) {
	if s.all {
		return true, true
	}
	return slices.Contains(s.namespaces, namespace), s.namespaces != nil
}

// Observation is the evidence.
func (s Scope) Observation() v1alpha1.Observation {
	w := s.Workload
	name := graph.Located(w.GetKind(), w.GetNamespace(), w.GetName())
	return v1alpha1.Observation{Says: fmt.Sprintf("%s watches namespace %s only (%s)", name, s.Value, s.Setting),
		From: name + " spec.template.spec.containers"}
}

// NotWatching returns a setting that leaves the namespace of an object out of what its actor
// watches, false if none is known to. The parts of an installation that say nothing, such as its
// webhook, do not speak against it; another that may watch all namespaces does.
func (a Actor) NotWatching(namespace string) (Scope, bool) {
	if namespace == "" || a.Life != Alive {
		return Scope{}, false
	}
	var out []Scope
	var silent []string // the namespaces of workloads that say nothing
	for _, w := range a.Workloads {
		if !running(w) {
			continue
		}
		scopes := scopesOf(w)
		if len(scopes) == 0 {
			silent = append(silent, w.GetNamespace())
		}
		for _, s := range scopes {
			watches, known := s.includes(namespace)
			if watches || !known {
				return Scope{}, false
			}
			out = append(out, s)
		}
	}
	for _, in := range silent {
		if !slices.ContainsFunc(out, func(s Scope) bool { return s.Workload.GetNamespace() == in }) {
			return Scope{}, false
		}
	}
	if len(out) == 0 {
		return Scope{}, false
	}
	return out[0], true
}

// scopesOf reads the settings of a workload.
func scopesOf(w *unstructured.Unstructured) []Scope {
	var all []Scope
	for _, c := range containersOf(w) {
		for _, name := range scopeVariables {
			if v, ok := c.env[name]; ok {
				s := scopeOf(w, name, v)
				s.Variable = true
				all = append(all, s)
			}
		}
		for i, arg := range c.args {
			name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			switch {
			case !strings.HasPrefix(arg, "-"):
				continue
			case name == "watch-all-namespaces" && value == "false": // Flux
				all = append(all, scopeOf(w, "--watch-all-namespaces=false", setting{w.GetNamespace(), true}))
				continue
			case !slices.Contains(scopeFlags, name):
				continue
			case !given && i+1 < len(c.args):
				value = c.args[i+1]
			}
			v := c.expanded(value)
			if name == "namespace" && v.value == w.GetNamespace() {
				v.known = false // with many it is where they run, or where their Lease is
			}
			all = append(all, scopeOf(w, "--"+name, v))
		}
	}
	return all
}

func scopeOf(w *unstructured.Unstructured, name string, v setting) Scope {
	s := Scope{Workload: w, Setting: name, Value: v.value}
	if !v.known {
		return s
	}
	s.namespaces = []string{}
	for _, namespace := range strings.Split(v.value, ",") {
		namespace = strings.TrimSpace(namespace)
		s.all = s.all || namespace == "" || namespace == "*"
		s.namespaces = append(s.namespaces, namespace)
	}
	return s
}
