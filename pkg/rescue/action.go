package rescue

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// What a rescue does besides what other commands do, too.
const (
	// VerbCreate creates an object again.
	VerbCreate plan.Verb = "create"
	// VerbUpdateStatus gives an object that was created again the status that it had.
	VerbUpdateStatus plan.Verb = "updateStatus"
	// VerbAdopt gives a dependent references to an owner.
	VerbAdopt plan.Verb = "adopt"
	// VerbRebind gives the PersistentVolume of a claim the uid of the new claim.
	VerbRebind plan.Verb = "rebind"
)

// Action is one write: one that is planned, or one that the server has taken. The Cause is the object
// that references are removed from, or put back to; its uid is empty as long as that is not known.
type Action = unfinalize.Action
