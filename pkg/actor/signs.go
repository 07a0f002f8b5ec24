package actor

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Sign is what one object shows of the life of the actor that it belongs to.
type Sign struct {
	Life Life
	// Says is a clause that says what was seen, and From where it was read: an object, with a field
	// if there is one.
	Says, From string
	// Scaled says that it is a workload that is scaled to 0.
	Scaled bool

	// starting says that it may be about to work, so that nothing else is a witness; recent, that
	// it worked a few minutes ago.
	starting, recent bool
	// watches says what it works on, if that is other objects.
	watches string
}

// signs are what was seen of an actor, in the order in which it was seen.
type signs struct {
	// alive speak for its life, and dead are witnesses of its death. Of unsure is what is there and
	// shows neither.
	alive, dead, unsure []v1alpha1.Observation
	// searched names what was looked for, and unread says what could not be looked at.
	searched, unread []string
	// workloads are those that were found, and scaled those of them that are scaled to 0.
	workloads, scaled []*unstructured.Unstructured
	// leases are those of its leader, by the packs or by the domain of the finalizer.
	leases []*unstructured.Unstructured
	// apart are workloads that work on other objects, and others what they show.
	apart  []*unstructured.Unstructured
	others []Sign
	// found says that something of it runs, or ran, in the cluster.
	found bool
	// starting and recent say that one of the signs is.
	starting, recent bool
	// local says that one of them is of a node that the object names.
	local bool
	// reporter is the object that says what is heard from where the actor runs; nil if there is none.
	reporter *unstructured.Unstructured
	// unreported names the object that would say it, if that is proven to be absent.
	unreported string
}

// add takes a sign in.
func (s *signs) add(sign Sign) {
	s.starting, s.recent = s.starting || sign.starting, s.recent || sign.recent
	seen := v1alpha1.Observation{Says: sign.Says, From: sign.From}
	list := map[Life]*[]v1alpha1.Observation{Alive: &s.alive, Dead: &s.dead, Unknown: &s.unsure}[sign.Life]
	if !slices.Contains(*list, seen) {
		*list = append(*list, seen)
	}
}

// merge takes in what other signs are.
func (s *signs) merge(other signs) {
	all := slices.Concat(other.workloads, other.apart)
	if len(all) > 0 && !slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool {
		return !among(s.workloads, o) && !among(s.apart, o)
	}) {
		return // all of it is known
	}
	s.apart, s.others = append(s.apart, other.apart...), append(s.others, other.others...)
	s.alive, s.dead, s.unsure = append(s.alive, other.alive...), append(s.dead, other.dead...),
		append(s.unsure, other.unsure...)
	s.unread, s.leases = append(s.unread, other.unread...), append(s.leases, other.leases...)
	s.workloads, s.scaled = append(s.workloads, other.workloads...), append(s.scaled, other.scaled...)
	s.found, s.starting, s.recent = s.found || other.found, s.starting || other.starting, s.recent || other.recent
	s.local = s.local || other.local
}

// recognisedAs says in each clause about a workload how it was recognised.
func (s *signs) recognisedAs(by likeness) {
	for _, list := range [][]v1alpha1.Observation{s.alive, s.dead, s.unsure} {
		for i := range list {
			for _, w := range s.workloads {
				list[i].Says = strings.Replace(list[i].Says, cluster.Located(w)+" ", cluster.Located(w)+by.said()+" ", 1)
			}
		}
	}
}

// settle takes in what workloads show that work on other objects. If nothing else was found, they
// are the actor, and leave this object out. Otherwise the actor is what takes it.
func (s *signs) settle() {
	only := len(s.alive)+len(s.workloads) == 0 && !s.starting
	if only && len(s.others) > 0 {
		s.workloads, s.unsure, s.dead = s.apart, append(s.unsure, s.dead...), nil
	}
	for _, sign := range s.others {
		if !only || sign.Life != Alive {
			sign.Life, sign.Says = Unknown, sign.Says+" and "+sign.watches
		}
		s.add(Sign{Life: sign.Life, Says: sign.Says, From: sign.From})
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
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = message(err)
		}
	}
	if what := fmt.Sprintf(format, args...); !slices.Contains(s.unread, what) {
		s.unread = append(s.unread, what)
	}
}

// life weighs the signs. One that it lives counts more than any that something is broken: an
// installation has more than one part. It is dead only if there is a witness and nothing of it is
// starting. A Lease that was renewed a few minutes ago makes other Leases no witnesses; it is no
// argument against a workload that is scaled to 0, whose Lease it may be.
func (s *signs) life() Life {
	switch {
	case len(s.alive) > 0:
		return Alive
	case len(s.dead) == 0 || s.starting:
		return Unknown
	case s.recent && len(s.scaled) == 0:
		return Unknown
	}
	return Dead
}

// evidence returns what to tell: what decides comes first. What was looked for is told if nothing
// was found.
func (s *signs) evidence() []v1alpha1.Observation {
	switch s.life() {
	case Alive:
		return slices.Concat(s.alive, s.unsure, s.dead)
	case Dead:
		return slices.Concat(s.dead, s.unsure, said(s.unread...))
	}
	var missing []v1alpha1.Observation
	if !s.found && len(s.searched) > 0 {
		missing = said(absent(s.searched))
	}
	return slices.Concat(s.unsure, s.dead, missing, said(s.unread...))
}

// absent says that nothing of what was looked for is there.
func absent(searched []string) string { return "there is no " + phrase.Or(searched) }

// said are clauses that were read at no object in particular.
func said(clauses ...string) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for _, c := range clauses {
		all = append(all, v1alpha1.Observation{Says: c})
	}
	return all
}
