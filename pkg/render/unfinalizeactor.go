package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// lifeSentence says who removes a finalizer and whether that is alive.
func lifeSentence(a actor.Actor) string {
	who := a.Who
	if who == "" {
		who = "the controller that removes it is not known"
	} else {
		who += map[actor.Life]string{
			actor.Alive: " removes it, and is running", actor.Dead: " removes it, and is not running",
		}[a.Life]
		if a.Life != actor.Alive && a.Life != actor.Dead {
			who += " removes it; whether it is running is not known"
		}
	}
	if len(a.Says()) > 0 {
		who += " (" + strings.Join(a.Says(), "; ") + ")"
	}
	return who
}

// removalSentence says what happens if the finalizer is removed this way.
func removalSentence(v unfinalize.Assessment) string {
	switch {
	case v.Method == unfinalize.ByOrphaning:
		return "its purpose is fulfilled: the dependents are orphaned before it is removed"
	case v.Method == unfinalize.ByPolicy, v.Method == unfinalize.ByPatch && v.Note != "":
		return "its deletion continues in the background: it does not wait for its dependents, which are deleted after it"
	case v.Method == unfinalize.ByFinalizing && len(v.Refusals) == 0:
		return "nothing is left in the namespace, so it can be deleted"
	case v.Actor.IsKnown:
		return v.Actor.Known.OnRemoval()
	}
	return "unknown which cleanup is skipped"
}
