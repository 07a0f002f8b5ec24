package actor

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// signs are what was seen of a component's life. Clauses, in the order in which they were seen.
type signs struct {
	// alive and dead speak for it and against it; absent names what was looked for and is not there; unread says what could not be looked at.
	alive, dead, absent, unread []string
	// reliable says that something of what is absent was checked against the component's source, so that its absence says something.
	reliable bool
	// scaled are the workloads that are scaled to 0.
	scaled []*unstructured.Unstructured
	// outside says that the component does not run in the cluster, or not where it could be seen.
	outside string
}

// life weighs the signs. One that it lives counts more than any that something is broken: an installation has more than one part. That nothing is
// there counts only if everything could be looked at, and if it would be known by what it was looked for.
func (s *signs) life() Life {
	switch {
	case len(s.alive) > 0:
		return Alive
	case len(s.dead) > 0:
		return Dead
	case len(s.unread) == 0 && s.reliable:
		return Dead
	}
	return Unknown
}

// evidence returns what to tell: what decides, and of what was not found only if nothing was.
func (s *signs) evidence() []string {
	switch {
	case len(s.alive) > 0:
		return append(append([]string{}, s.alive...), s.dead...)
	case len(s.dead) > 0:
		return append(append([]string{}, s.dead...), s.unread...)
	}
	var e []string
	if len(s.absent) > 0 {
		e = append(e, "there is no "+phrase.Or(s.absent))
	}
	if s.outside != "" {
		e = append(e, s.outside)
	}
	return append(e, s.unread...)
}
