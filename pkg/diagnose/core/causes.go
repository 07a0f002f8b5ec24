package core

// Code names a kind of cause. Codes are part of the output's contract: they do not change between versions.
type Code string

// Rank is the order in which the causes of one object are printed.
type Rank int

// The ranks.
const (
	// Obstacle: it stands in the way of a cure, whatever else is the cause.
	Obstacle Rank = iota
	// Root: something is to be done about it.
	Root
	// Note: it says what the user cannot do about the others.
	Note
)

// Kind is what is to be known of a kind of cause.
type Kind struct {
	Code Code
	Rank Rank
	// Meaning is a clause, with the rule of the collector or the API server that it comes from.
	Meaning string
	// Summary is the Meaning for a screen, if that is too long for one.
	Summary string
	// Remedy is what to do where nothing more is known of the very object, in sentences; empty if every cause has a remedy of its own.
	Remedy string
}

// The codes.
const (
	FinalizerActorAlive           Code = "FinalizerActorAlive"
	FinalizerActorDead            Code = "FinalizerActorDead"
	FinalizerActorUnknown         Code = "FinalizerActorUnknown"
	FinalizerActorNotFound        Code = "FinalizerActorNotFound"
	DependencyMissing             Code = "DependencyMissing"
	InUse                         Code = "InUse"
	FinalizerOrphaned             Code = "FinalizerOrphaned"
	NamespaceGone                 Code = "NamespaceGone"
	ActorForbidden                Code = "ActorForbidden"
	ActorPaused                   Code = "ActorPaused"
	ActorNotWatching              Code = "ActorNotWatching"
	CollectorNotRunning           Code = "CollectorNotRunning"
	CollectorNotActing            Code = "CollectorNotActing"
	ForegroundDeadlock            Code = "ForegroundDeadlock"
	SelfReference                 Code = "SelfReference"
	BlockerBadScope               Code = "BlockerBadScope"
	BlockerUnresolvable           Code = "BlockerUnresolvable"
	BlockerHidden                 Code = "BlockerHidden"
	NamespaceControllerNotRunning Code = "NamespaceControllerNotRunning"
	NamespaceControllerNotActing  Code = "NamespaceControllerNotActing"
	NamespaceSpecFinalizer        Code = "NamespaceSpecFinalizer"
	NamespaceDeletionFailed       Code = "NamespaceDeletionFailed"
	APIServiceUnavailable         Code = "APIServiceUnavailable"
	ConversionWebhookDown         Code = "ConversionWebhookDown"
	ObjectUndecodable             Code = "ObjectUndecodable"
	TypeUnlistable                Code = "TypeUnlistable"
	AdmissionWebhookDown          Code = "AdmissionWebhookDown"
	AdmissionDenied               Code = "AdmissionDenied"
	ObjectInvalid                 Code = "ObjectInvalid"
	FinalizerPutBack              Code = "FinalizerPutBack"
	DeletionRejected              Code = "DeletionRejected"
	PodTerminating                Code = "PodTerminating"
	PodNotKilled                  Code = "PodNotKilled"
	NodeGone                      Code = "NodeGone"
	NodeNotReady                  Code = "NodeNotReady"
	ClaimInUse                    Code = "ClaimInUse"
	VolumeBound                   Code = "VolumeBound"
	VolumeAttached                Code = "VolumeAttached"
	HalfDeleted                   Code = "HalfDeleted"
	CureForbidden                 Code = "CureForbidden"
	InProgress                    Code = "InProgress"
	NotDeleting                   Code = "NotDeleting"
)

// Kinds are all kinds of causes, in the order of the documentation.
var Kinds = []Kind{
	{Code: FinalizerActorAlive, Rank: Root, Meaning: "whoever removes the finalizer is alive and has not removed it yet"},
	{Code: FinalizerActorDead, Rank: Root, Summary: "whoever removes the finalizer does not work", Meaning: "whoever removes the finalizer was found and does not work: it is scaled to 0, has had no ready pod for ten minutes, or its Lease was last renewed long ago"},
	{Code: FinalizerActorUnknown, Rank: Root, Meaning: "it is not known who removes the finalizer, or whether they are alive"},
	{Code: FinalizerActorNotFound, Rank: Root, Meaning: "nothing of whoever removes the finalizer was found in the cluster: it may run under another name, or have been uninstalled"},
	{Code: DependencyMissing, Rank: Obstacle, Meaning: "an object that whoever removes the finalizer needs does not exist"},
	{Code: InUse, Rank: Obstacle, Meaning: "other objects use the object, and whoever removes the finalizer waits until they are deleted"},
	{Code: FinalizerOrphaned, Rank: Root, Meaning: "the object on whose behalf the finalizer was added is deleted, or no longer selects this one: nobody removes the finalizer"},
	{Code: NamespaceGone, Rank: Obstacle, Meaning: "the object is in a namespace that does not exist: before Kubernetes 1.37 the server answers every update with 404"},
	{Code: ActorForbidden, Rank: Root, Meaning: "whoever removes the finalizer is alive, and its ServiceAccount may neither update nor patch the object"},
	{Code: ActorPaused, Rank: Root, Meaning: "whoever removes the finalizer is alive, and ignores the object, which says that it is paused or suspended"},
	{Code: ActorNotWatching, Rank: Root, Meaning: "whoever removes the finalizer is alive, and was started to watch other namespaces only"},
	{Code: CollectorNotRunning, Rank: Root, Meaning: "the garbage collector has to act on the object, and does not run"},
	{Code: CollectorNotActing, Rank: Root, Meaning: "the garbage collector has to act on the object, and does not"},
	{Code: ForegroundDeadlock, Rank: Root, Meaning: "objects that are deleted in the foreground wait for each other (GC-064, RO-023)",
		Remedy: "Delete one of them again in the background: it no longer waits, and the others follow. Or set blockOwnerDeletion to false on one reference, which the collector does not do by itself."},
	{Code: SelfReference, Rank: Root, Meaning: "an object that is deleted in the foreground waits for itself (GC-064)",
		Remedy: "Delete it again in the background: it no longer waits."},
	{Code: BlockerBadScope, Rank: Root, Meaning: "a blocking dependent is cluster-scoped and names a namespaced owner: it is never collected (GC-048)",
		Remedy: "Delete it yourself, or remove the reference."},
	{Code: BlockerUnresolvable, Rank: Root, Meaning: "a blocking dependent names an owner of a kind that is not served: it is never collected (GC-050)",
		Remedy: "Delete it yourself, or remove the reference."},
	{Code: BlockerHidden, Rank: Root, Meaning: "an object waits for dependents, or for what a link of a pack leads to, that cannot be seen",
		Remedy: "A type that cannot be listed may contain a dependent that blocks it. Make the type available, or run the command as a user who may list it. If you delete the owner again in the background, it no longer waits."},
	{Code: NamespaceControllerNotRunning, Rank: Root, Meaning: "the namespace controller has to empty or finalize the namespace, and does not run"},
	{Code: NamespaceControllerNotActing, Rank: Root, Meaning: "the namespace controller has to empty or finalize the namespace, and does not"},
	{Code: NamespaceSpecFinalizer, Rank: Root, Meaning: "spec.finalizers of the namespace has an entry that the namespace controller does not remove (NS-001)"},
	{Code: NamespaceDeletionFailed, Rank: Root, Meaning: "the namespace controller reports a failure that nothing else explains (NS-020)"},
	{Code: APIServiceUnavailable, Rank: Obstacle, Meaning: "an aggregated API does not answer: what it serves can be neither listed nor deleted"},
	{Code: ConversionWebhookDown, Rank: Obstacle, Meaning: "the conversion webhook of a CustomResourceDefinition does not answer: its instances cannot be read"},
	{Code: ObjectUndecodable, Rank: Obstacle, Meaning: "the server cannot decode an object in its storage: the type cannot be listed (API-046)"},
	{Code: TypeUnlistable, Rank: Obstacle, Meaning: "the server fails to list a type"},
	{Code: AdmissionWebhookDown, Rank: Obstacle, Meaning: "an admission webhook with failurePolicy Fail does not answer: the object can be neither updated nor deleted"},
	{Code: AdmissionDenied, Rank: Obstacle, Meaning: "an admission webhook or policy denies the write that is needed"},
	{Code: ObjectInvalid, Rank: Obstacle, Meaning: "the object is no longer valid: the server refuses every update (API-032)"},
	{Code: FinalizerPutBack, Rank: Root, Meaning: "a webhook, a policy or a controller puts the finalizer back when it is removed (API-033)"},
	{Code: DeletionRejected, Rank: Root, Meaning: "the object is not being deleted, and the server rejects a DELETE"},
	{Code: PodTerminating, Rank: Root, Meaning: "the grace period of a pod is not over"},
	{Code: PodNotKilled, Rank: Root, Meaning: "the grace period is over, the node is ready, and its kubelet has not removed the pod"},
	{Code: NodeGone, Rank: Root, Meaning: "the node of the pod does not exist"},
	{Code: NodeNotReady, Rank: Root, Meaning: "the node of the pod is not ready: its kubelet does not remove the pod"},
	{Code: ClaimInUse, Rank: Root, Meaning: "pods use the PersistentVolumeClaim"},
	{Code: VolumeBound, Rank: Root, Meaning: "the PersistentVolume is bound to a claim"},
	{Code: VolumeAttached, Rank: Root, Meaning: "the volume is attached to a node"},
	{Code: HalfDeleted, Rank: Root, Meaning: "nothing blocks the object, and its deletion was not completed (NS-005, RO-063)",
		Remedy: "Delete it again: nothing blocks it, and the server completes the deletion."},
	{Code: CureForbidden, Rank: Note, Meaning: "you lack permission for what would release the object"},
	{Code: InProgress, Rank: Root, Meaning: "the deletion makes progress: objects were deleted between two readings, or it began some seconds ago; nothing is stuck",
		Remedy: "Wait. Nothing is stuck."},
	{Code: NotDeleting, Rank: Root, Meaning: "the object that was asked about is not being deleted"},
}

// byCode finds a kind.
var byCode = func() map[Code]Kind {
	all := make(map[Code]Kind, len(Kinds))
	for _, k := range Kinds {
		all[k.Code] = k
	}
	return all
}()
