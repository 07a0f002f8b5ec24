package diagnose

// Code names a kind of cause. Codes are part of the output's contract.
type Code string

// The causes.
const (
	// FinalizerActorAlive: whoever takes the finalizer off is alive and has not done it yet.
	FinalizerActorAlive Code = "FinalizerActorAlive"
	// FinalizerActorDead: whoever takes the finalizer off is not there, or does not work.
	FinalizerActorDead Code = "FinalizerActorDead"
	// FinalizerActorUnknown: nobody knows who takes the finalizer off, or whether they are alive.
	FinalizerActorUnknown Code = "FinalizerActorUnknown"

	// CollectorNotRunning: the garbage collector has something to do with the object and is not there.
	CollectorNotRunning Code = "CollectorNotRunning"
	// CollectorNotActing: the garbage collector has something to do with the object and does not do it.
	CollectorNotActing Code = "CollectorNotActing"
	// ForegroundDeadlock: objects that are deleted in the foreground wait for each other (GC-064, RO-023).
	ForegroundDeadlock Code = "ForegroundDeadlock"
	// SelfReference: an object that is deleted in the foreground waits for itself (GC-064).
	SelfReference Code = "SelfReference"
	// BlockerBadScope: a blocking dependent is cluster-scoped and names a namespaced owner, so that it is never collected (GC-048).
	BlockerBadScope Code = "BlockerBadScope"
	// BlockerUnresolvable: a blocking dependent names an owner of a kind that is not served, so that it is never collected (GC-050).
	BlockerUnresolvable Code = "BlockerUnresolvable"
	// BlockerHidden: an owner waits for a dependent that cannot be seen.
	BlockerHidden Code = "BlockerHidden"

	// NamespaceControllerNotRunning: a namespace is to be emptied or let go, and the controller that does it is not there.
	NamespaceControllerNotRunning Code = "NamespaceControllerNotRunning"
	// NamespaceControllerNotActing: the same, and it does not do it.
	NamespaceControllerNotActing Code = "NamespaceControllerNotActing"
	// NamespaceSpecFinalizer: spec.finalizers of a namespace has an entry of somebody else's (NS-001).
	NamespaceSpecFinalizer Code = "NamespaceSpecFinalizer"
	// NamespaceDeletionFailed: the namespace controller reports a failure that nothing else explains (NS-020).
	NamespaceDeletionFailed Code = "NamespaceDeletionFailed"

	// APIServiceUnavailable: an aggregated API does not answer, so that what it serves cannot be listed or deleted.
	APIServiceUnavailable Code = "APIServiceUnavailable"
	// ConversionWebhookDown: a CustomResourceDefinition's conversion webhook does not answer, so that its instances cannot be read.
	ConversionWebhookDown Code = "ConversionWebhookDown"
	// ObjectUndecodable: the server cannot decode an object in its storage, so that its type cannot be listed (API-046).
	ObjectUndecodable Code = "ObjectUndecodable"
	// TypeUnlistable: a type cannot be listed, for what the server says.
	TypeUnlistable Code = "TypeUnlistable"

	// AdmissionWebhookDown: an admission webhook with failurePolicy Fail does not answer, so that the object can be neither updated nor deleted.
	AdmissionWebhookDown Code = "AdmissionWebhookDown"
	// AdmissionDenied: an admission webhook or policy denies the write that is needed.
	AdmissionDenied Code = "AdmissionDenied"
	// ObjectInvalid: the object is not valid any more, so that the server refuses every update (API-032).
	ObjectInvalid Code = "ObjectInvalid"
	// FinalizerPutBack: a webhook or a controller puts the finalizer back when it is taken off (API-033).
	FinalizerPutBack Code = "FinalizerPutBack"
	// DeletionRejected: the object is not being deleted, and the server rejects a DELETE.
	DeletionRejected Code = "DeletionRejected"

	// PodTerminating: the grace period of a pod is not over.
	PodTerminating Code = "PodTerminating"
	// PodNotKilled: the grace period is over, the node is ready, and its kubelet has not removed the pod.
	PodNotKilled Code = "PodNotKilled"
	// NodeGone: the pod's node does not exist any more.
	NodeGone Code = "NodeGone"
	// NodeNotReady: the pod's node is not ready, so that its kubelet does not remove the pod.
	NodeNotReady Code = "NodeNotReady"
	// ClaimInUse: pods use a PersistentVolumeClaim.
	ClaimInUse Code = "ClaimInUse"
	// VolumeBound: a PersistentVolume is bound to a claim.
	VolumeBound Code = "VolumeBound"
	// VolumeAttached: a volume is attached to a node.
	VolumeAttached Code = "VolumeAttached"

	// HalfDeleted: nothing holds the object, and nobody has finished its deletion (NS-005, RO-063).
	HalfDeleted Code = "HalfDeleted"
	// CureForbidden: the user may not do what would free the object.
	CureForbidden Code = "CureForbidden"
	// NotDeleting: the object that was asked about is not being deleted.
	NotDeleting Code = "NotDeleting"
)
