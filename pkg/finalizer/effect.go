package finalizer

import "strings"

// Who returns the actor for use in a sentence, with an article where English wants one.
func (k Known) Who() string {
	who := k.Actor
	if i := strings.LastIndexByte(who, ' '); i >= 0 && who[i+1:] == strings.ToLower(who[i+1:]) {
		who = "the " + who // a description, as "PVC protection controller", where "Argo CD" is a name
	}
	return who
}

// OnCompletion says what the actor does before it removes the finalizer: what happens if it is
// alive, and what will happen to the object, and to everything else that waits, when it is started
// again. It is hedged where only the form of the finalizer's name speaks for it.
func (k Known) OnCompletion() string {
	done := k.Who() + " " + k.Does + ", then removes the finalizer"
	if k.Fallback {
		done = "probably " + done
	}
	switch k.Polarity {
	case OptInDestructive:
		return "honouring it deletes: " + done
	case OptInProtective:
		return "honouring it keeps: " + done
	}
	return done
}

// OnRemoval says what happens if somebody else removes the finalizer.
func (k Known) OnRemoval() string {
	var what string
	switch k.Polarity {
	case Guard:
		what = "ends the protection"
	case Bookkeeping:
		what = "skips the bookkeeping"
	case BuiltinGC:
		what = "passes the garbage collector by"
	case OptInDestructive:
		what = "skips the deletion that honouring it does"
	case OptInProtective:
		what = "deletes what honouring it keeps"
	default:
		what = "skips the cleanup"
	}
	return "removing it " + what + ": " + k.IfRemoved
}
