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

// stageOf compares the live object, nil if it is proven to be absent, with the one that is rescued.
func (p *Planned) stageOf(live *unstructured.Unstructured) Stage {
	switch uid := p.Ref.UID; {
	case live == nil:
		return Gone
	case string(live.GetUID()) == uid && live.GetDeletionTimestamp() != nil:
		return Held
	case string(live.GetUID()) == uid:
		return Alive
	case live.GetDeletionTimestamp() == nil && p.isRestored(live):
		return Created
	}
	return Replaced
}

// isRestored says whether a rescue has created a live object: the companion of the archive says so,
// or it is a copy of the archived one, which a rescue has created that was killed. The annotation
// alone, which anybody may write, is no proof.
func (p *Planned) isRestored(live *unstructured.Unstructured) bool {
	if p.record == nil {
		return false
	}
	sent := restore.Creatable(p.record.Object)
	return p.record.Created.Is(p.Ref.UID, string(live.GetUID())) || restore.IsCopy(sent, live) &&
		restore.OwnedAlike(p.record.Object, live)
}
