package actor

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Sign is what one object shows of the life of the actor that it belongs to.
type Sign struct {
	Life Life
	// Says is a clause that says what was seen, and From where it was read: an object, with a field if there is one.
	Says, From string
	// Scaled says that it is a workload that is scaled to 0.
	Scaled bool
}

// signs are what was seen of an actor, in the order in which it was seen.
type signs struct {
	// alive speak for its life, and dead are witnesses of its death. Of unsure is what is there and shows neither.
	alive, dead, unsure []v1alpha1.Observation
	// searched names what was looked for, and unread says what could not be looked at.
	searched, unread []string
	// workloads are those that were found, and scaled those of them that are scaled to 0.
	workloads, scaled []*unstructured.Unstructured
	// found says that something of it runs, or ran, in the cluster.
	found bool
}

// add takes a sign in.
func (s *signs) add(sign Sign) {
	seen := v1alpha1.Observation{Says: sign.Says, From: sign.From}
	list := map[Life]*[]v1alpha1.Observation{Alive: &s.alive, Dead: &s.dead, Unknown: &s.unsure}[sign.Life]
	if !slices.Contains(*list, seen) {
		*list = append(*list, seen)
	}
}

// seek notes what was looked for.
func (s *signs) seek(what string) {
	if !slices.Contains(s.searched, what) {
		s.searched = append(s.searched, what)
	}
}

// missed notes what could not be looked at.
func (s *signs) missed(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); !slices.Contains(s.unread, what) {
		s.unread = append(s.unread, what)
	}
}

// life weighs the signs. One that it lives counts more than any that something is broken: an installation has more than one part. It is dead only if there
// is a witness, and nothing that may be about to start.
func (s *signs) life() Life {
	switch {
	case len(s.alive) > 0:
		return Alive
	case len(s.dead) > 0 && len(s.unsure) == 0:
		return Dead
	}
	return Unknown
}

// evidence returns what to tell: what decides comes first. What was looked for is told if nothing was found.
func (s *signs) evidence() []v1alpha1.Observation {
	if s.life() == Alive {
		return slices.Concat(s.alive, s.unsure, s.dead)
	}
	var e []v1alpha1.Observation
	if !s.found && len(s.searched) > 0 {
		e = append(e, v1alpha1.Observation{Says: "there is no " + phrase.Or(s.searched)})
	}
	e = slices.Concat(s.unsure, s.dead, e)
	for _, what := range s.unread {
		e = append(e, v1alpha1.Observation{Says: what})
	}
	return e
}

// place says where something was read: an object, and a field of it if one is given.
func place(o *unstructured.Unstructured, field string) string {
	return strings.TrimSpace(title(o) + " " + field)
}

// title names an object as a sentence does: its kind, and its name with its namespace.
func title(o *unstructured.Unstructured) string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return o.GetKind() + " " + name
}
