package rescue

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// Stage is where a rescue stands, as a live read of the object tells.
type Stage string

// The stages of a rescue.
const (
	// Held: the object is being deleted and still exists.
	Held Stage = "Held"
	// Gone: the object is deleted, and was not created again.
	Gone Stage = "Gone"
	// Created: a rescue has created the object again.
	Created Stage = "Created"
	// Replaced: another object has the name, and no rescue of this one has created it.
	Replaced Stage = "Replaced"
	// Alive: the object is not being deleted.
	Alive Stage = "Alive"
)

// stageOf compares the live object, nil if it is proven to be absent, with the uid of the one that is rescued.
func stageOf(live *unstructured.Unstructured, uid string) Stage {
	switch {
	case live == nil:
		return Gone
	case string(live.GetUID()) == uid && live.GetDeletionTimestamp() != nil:
		return Held
	case string(live.GetUID()) == uid:
		return Alive
	case live.GetAnnotations()[restore.RestoredFrom] == uid && live.GetDeletionTimestamp() == nil:
		return Created
	}
	return Replaced
}
