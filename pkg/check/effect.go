package check

// Effect is what comes of what is wrong, in a word.
type Effect string

// The effects.
const (
	// DeleteObject: the collector deletes the object.
	DeleteObject Effect = "DeleteObject"
	// RemoveReference: the collector removes the reference, and keeps the object because of another
	// owner.
	RemoveReference Effect = "RemoveReference"
	// KeepObject: the collector never deletes the object, whatever happens to its owners.
	KeepObject Effect = "KeepObject"
	// BlockOwner: an owner that is deleted in the foreground is never gone.
	BlockOwner Effect = "BlockOwner"
	// BlockDeletion: once the object is deleted, it is never gone.
	BlockDeletion Effect = "BlockDeletion"
	// Reject: the server rejects the object, or its next update.
	Reject Effect = "Reject"
	// None: nothing comes of it.
	None Effect = "None"
	// Undetermined: it cannot be told.
	Undetermined Effect = "Unknown"
)
