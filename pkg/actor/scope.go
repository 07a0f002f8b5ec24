package actor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Variables and flags that say which namespaces a controller watches: those of operator-sdk,
// controller-runtime's projects, Strimzi, ingress controllers and Config Connector, and what is called
// alike: OPERATOR_SCOPE_NAMESPACE of RabbitMQ. Words in front are those of the program, or the setting
// is about something else: SECRETS_WATCH_NAMESPACE. Others say which labels the objects have that it
// watches: those of Flux and Grafana. What is only called a selector, or one of shards, may be about
// other objects: it counts for an object that has a label of such a key, unless pods have it as a rule.
var (
	scopeSetting    = regexp.MustCompile(`^(?:(.*)_)?(?:(?:watch|watched|scope|scoped|managed)_namespaces?|target_namespaces)$|^strimzi_namespace$`)
	scopeFlag       = regexp.MustCompile(`^namespaces?$`)
	anyProgram      = regexp.MustCompile(`^(?:operator|controller|manager)$`)
	selectorSetting = regexp.MustCompile(`^(?:watch_label_selectors?|watch_selector)$`)
	likeSelector    = regexp.MustCompile(`^(?:(?:[a-z]+_)?shard_|resource_|object_)?(?:label_)?selector$`)
	ofPods          = regexp.MustCompile(`^(?:app|name|component|release|role|tier|k8s-app|(?:.+\.)?kubernetes\.io/.+)$`)
	noNamespace     = regexp.MustCompile(`^(?:true|false|all|any|none)$`)
)

// Scope is a setting of a workload that says which objects it watches.
type Scope struct {
	Workload *unstructured.Unstructured
	// Setting is the variable or the flag, and Value what it is.
	Setting, Value string
	// Variable says that it is a variable.
	Variable bool
	// Selector says that it is about labels and not about namespaces, and likely that it may be about
	// those of other objects, or that the namespace may be where something else is.
	Selector, likely bool
	// namespaces are those of the value, nil if they cannot be told; all says that they are all.
	namespaces []string
	all        bool
	selector   labels.Selector // nil if it cannot be told
}

// includes reports whether the controller watches an object, as far as it can be told.
func (s Scope) includes(o *unstructured.Unstructured) (watches, known bool) {
	switch {
	case s.Selector && s.selector != nil && (!s.likely || s.namesLabel(o)):
		return s.selector.Matches(labels.Set(o.GetLabels())), true
	case s.Selector:
		return false, false
	case s.all || o.GetNamespace() == "":
		return true, true
	}
	return slices.Contains(s.namespaces, o.GetNamespace()), s.namespaces != nil
}

// namesLabel reports whether an object has a label of a key that the selector names, and that is not
// one by which pods are selected.
func (s Scope) namesLabel(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(s.requirements(), func(r labels.Requirement) bool {
		_, has := o.GetLabels()[r.Key()]
		return has && !ofPods.MatchString(r.Key())
	})
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
// all: --namespace, unless a pack knows the program.
func leavesOut(w, o *unstructured.Unstructured, isKnown bool) (Scope, bool) {
	var out []Scope
	maybe := false
	for _, s := range scopesOf(w) {
		switch watches, known := s.includes(o); {
		case s.Selector && known && !watches:
			return s, true
		case s.Selector:
		case watches || !known || s.likely && !isKnown:
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
// are about its labels first, nil if it may be watched: by one of the same program that is not set to
// watch others. Other programs, such as the webhook of an installation, do not speak against it.
func (a Actor) NotWatching(o *unstructured.Unstructured) []Scope {
	if a.Life != Alive {
		return nil
	}
	var out []Scope
	var others []*unstructured.Unstructured
	for _, w := range slices.Concat(a.Workloads, a.Apart) {
		s, left := leavesOut(w, o, a.IsKnown)
		switch {
		case !running(w) || slices.ContainsFunc(out, func(s Scope) bool { return s.Workload == w }):
		case left:
			out = append(out, s)
		default:
			others = append(others, w)
		}
	}
	for _, w := range others {
		if slices.ContainsFunc(out, func(s Scope) bool { return sameProgram(s.Workload, w) }) {
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

// sameProgram reports whether two workloads are instances of one program: they run the same images, or
// have the same name, in two namespaces.
func sameProgram(a, b *unstructured.Unstructured) bool {
	return a.GetName() == b.GetName() && a.GetNamespace() != b.GetNamespace() || sameImages(a, b)
}

// sameImages reports whether all images of one of two workloads are among those of the other, so
// that a sidecar that many have says nothing.
func sameImages(a, b *unstructured.Unstructured) bool {
	among := func(one, other *unstructured.Unstructured) bool {
		all, images := imagesOf(one), imagesOf(other)
		return len(all) > 0 &&
			!slices.ContainsFunc(all, func(image string) bool { return image == "" || !slices.Contains(images, image) })
	}
	return among(a, b) || among(b, a)
}

// imagesOf are the paths of the repositories of a workload's images.
func imagesOf(w *unstructured.Unstructured) []string {
	return phrase.Words(containersOf(w), func(c container) string { return c.image })
}

// scopesOf reads the settings of a workload. A flag that stands there more than once adds up.
func scopesOf(w *unstructured.Unstructured) []Scope {
	var all []Scope
	for _, c := range containersOf(w) {
		for _, name := range slices.Sorted(maps.Keys(c.env)) {
			if s, is := scopeOf(w, name, name, c.env[name]); is && !(scopeFlag.MatchString(spelled(name))) {
				s.Variable = true
				all = append(all, s)
			}
		}
		flags := map[string]setting{}
		for i, arg := range c.args {
			name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			switch {
			case !strings.HasPrefix(arg, "-"):
				continue
			case name == "watch-all-namespaces" && value == "false": // Flux
				all = append(all, ofNamespaces(w, "--watch-all-namespaces=false", setting{w.GetNamespace(), true}))
				continue
			case name == "namespaced" && (!given || value == "true"): // Argo
				all = append(all, ofNamespaces(w, "--namespaced", setting{w.GetNamespace(), true}))
				continue
			case !given && i+1 < len(c.args):
				value = c.args[i+1]
			}
			v := c.expanded(value)
			if before, again := flags[name]; again {
				v = setting{before.value + "," + v.value, before.known && v.known}
			}
			flags[name] = v
		}
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			v := flags[name]
			if name == "namespace" && v.value == w.GetNamespace() {
				v.known = false
			}
			if s, is := scopeOf(w, "--"+name, name, v); is {
				all = append(all, s)
			}
		}
	}
	return all
}

// spelled is the name of a variable or a flag in one spelling.
func spelled(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }

// watchesByName reports whether a setting of a workload names a namespace as one that it watches.
func watchesByName(w *unstructured.Unstructured, namespace string) bool {
	return namespace != "" && slices.ContainsFunc(scopesOf(w),
		func(s Scope) bool { return slices.Contains(s.namespaces, namespace) })
}

// scopeOf is what a setting of a name says, false if it is none of what is watched.
func scopeOf(w *unstructured.Unstructured, as, name string, v setting) (Scope, bool) {
	name = spelled(name)
	selects, likely := selectorSetting.MatchString(name), likeSelector.MatchString(name)
	switch {
	case selects || likely:
		s := Scope{Workload: w, Setting: as, Value: v.value, Selector: true, likely: !selects}
		if v.known {
			s.selector, _ = labels.Parse(v.value)
		}
		return s, true
	case strings.HasSuffix(name, "application_namespaces"): // of Argo CD, besides its own
		own := w.GetNamespace()
		return ofNamespaces(w, as, setting{strings.TrimSuffix(own+","+v.value, ","), v.known}), true
	case scopeFlag.MatchString(name):
		s := ofNamespaces(w, as, v)
		s.likely = name == "namespace" // with many it is where they run, or where their Lease is
		return s, true
	}
	if m := scopeSetting.FindStringSubmatch(name); m != nil && ofProgram(w, m[1]) {
		return ofNamespaces(w, as, v), true
	}
	return Scope{}, false
}

// ofProgram reports whether the words in front of what a setting says are those of the program of a
// workload, by its name and images.
func ofProgram(w *unstructured.Unstructured, words string) bool {
	called := slug(w.GetName() + strings.Join(imagesOf(w), ""))
	return !slices.ContainsFunc(strings.FieldsFunc(words, func(r rune) bool { return r == '_' }), func(word string) bool {
		return !anyProgram.MatchString(word) && !strings.Contains(called, word)
	})
}

// ofNamespaces is a setting that names namespaces. One that has a pattern, or a word that says how many,
// is not known.
func ofNamespaces(w *unstructured.Unstructured, as string, v setting) Scope {
	s := Scope{Workload: w, Setting: as, Value: v.value}
	for namespace := range strings.SplitSeq(v.value, ",") {
		namespace = strings.TrimSpace(namespace)
		s.all = s.all || v.known && (namespace == "" || namespace == "*")
		v.known = v.known && (s.all || len(validation.IsDNS1123Label(namespace)) == 0 && !noNamespace.MatchString(namespace))
		s.namespaces = append(s.namespaces, namespace)
	}
	if !v.known {
		s.namespaces = nil
	}
	return s
}
