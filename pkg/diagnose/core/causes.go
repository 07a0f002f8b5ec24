package core

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Code names a kind of cause. Codes are part of the output's contract: they do not change between
// versions.
type Code string

// Rank is the order in which the causes of one object are printed.
type Rank int

// The ranks.
const (
	// Obstacle: it stands in the way of a remedy, whatever else is the cause.
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
	// Remedy is what to do where nothing more is known of the very object, in sentences. Words in
	// braces stand for what the finding says: {actor} for who removes the finalizer, {then} for
	// what follows from the remedy, and the others for its Args.
	Remedy string
}

// The codes.
const (
	FinalizerActorAlive           Code = "FinalizerActorAlive"
	FinalizerActorDead            Code = Code(v1alpha1.NotRunning)
	FinalizerActorUnknown         Code = "FinalizerActorUnknown"
	FinalizerActorNotFound        Code = Code(v1alpha1.ActorNotFound)
	DependencyMissing             Code = Code(v1alpha1.DependencyMissing)
	InUse                         Code = "InUse"
	ActorWaiting                  Code = "ActorWaiting"
	FinalizerOrphaned             Code = "FinalizerOrphaned"
	NamespaceGone                 Code = "NamespaceGone"
	ActorForbidden                Code = Code(v1alpha1.NotPermitted)
	ActorPaused                   Code = Code(v1alpha1.Paused)
	ActorNotWatching              Code = Code(v1alpha1.NotWatching)
	ActorNotLeading               Code = Code(v1alpha1.NotLeading)
	CollectorNotRunning           Code = "CollectorNotRunning"
	CollectorNotActing            Code = "CollectorNotActing"
	ForegroundDeadlock            Code = "ForegroundDeadlock"
	SelfReference                 Code = "SelfReference"
	BlockerBadScope               Code = "BlockerBadScope"
	BlockerUnresolvable           Code = "BlockerUnresolvable"
	BlockerHidden                 Code = "BlockerHidden"
	BlockerRecreated              Code = "BlockerRecreated"
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
	{Code: FinalizerActorAlive, Rank: Root, Meaning: "whoever removes the finalizer is alive and has not removed it yet",
		Remedy: "{actor} is alive: let it finish, and check what it reports.{then}"},
	{Code: FinalizerActorDead, Rank: Root, Summary: "whoever removes the finalizer is not running",
		Meaning: "the controller that must remove the finalizer is not running: it is scaled to 0, has had no ready pod for ten minutes, or its Lease was last renewed long ago",
		Remedy:  "Start {actor} again and let it finish.{then}"},
	{Code: FinalizerActorUnknown, Rank: Root,
		Meaning: "it is not known who removes the finalizer, or whether they are alive",
		Remedy:  "Find out which controller removes the finalizer, and check that it is running.{then}"},
	{Code: FinalizerActorNotFound, Rank: Root,
		Meaning: "the controller that removes the finalizer was not found in the cluster: it may run under another name, or have been uninstalled",
		Remedy:  "Find out whether {actor} was uninstalled, or runs under another name; if it was uninstalled, install it again and let it finish.{then}"},
	{Code: DependencyMissing, Rank: Obstacle, Meaning: "an object that whoever removes the finalizer needs does not exist",
		Remedy: "Create {object} again, as it was: then {actor} can do its work and removes the finalizer.{then}"},
	{Code: InUse, Rank: Obstacle, Meaning: "other objects use the object, and whoever removes the finalizer waits until they are deleted",
		Remedy: "Delete {users} first: then {actor} removes the finalizer."},
	{Code: ActorWaiting, Rank: Obstacle,
		Meaning: "whoever removes the finalizer waits for somebody else to act, by what the object or one that belongs to it says",
		Remedy:  "See to what it waits for: then {actor} goes on."},
	{Code: FinalizerOrphaned, Rank: Obstacle,
		Meaning: "the object on whose behalf the finalizer was added is deleted, or no longer selects this one: nobody removes the finalizer",
		Remedy:  "Nobody removes it: {actor} put it there for {object}. Remove it by hand."},
	{Code: NamespaceGone, Rank: Obstacle,
		Meaning: "the object is in a namespace that does not exist: before Kubernetes 1.37 the server answers every update with 404",
		Remedy:  "Create namespace {namespace} again: before Kubernetes 1.37, only then can the object be changed, and a finalizer be removed by its actor or by hand. Then delete the namespace, which deletes what is left in it.{then}"},
	{Code: ActorForbidden, Rank: Root,
		Meaning: "whoever removes the finalizer is alive, and its ServiceAccount may neither update nor patch the object",
		Remedy:  "Restore the binding that lets ServiceAccount {account} update and patch {resource}, and let {actor} finish.{then}"},
	{Code: ActorPaused, Rank: Root,
		Meaning: "whoever removes the finalizer is alive, and ignores the object, which says that it is paused or suspended",
		Remedy:  "End the pause, and let {actor} finish.{then}"},
	{Code: ActorNotWatching, Rank: Root,
		Meaning: "whoever removes the finalizer is alive, and does not take this object: it was started to watch other namespaces or labels only, or the class of the object is another's",
		Remedy:  "Have {workload} watch namespace {namespace} as well, through whatever installs it, and let it finish.{then}"},
	{Code: ActorNotLeading, Rank: Root,
		Meaning: "whoever removes the finalizer has pods that are ready, and none of them leads: the one that took its Lease no longer renews it",
		Remedy:  "Find out by its log why {pod} no longer renews {lease}, start the pods of {workload} again, and let {actor} finish.{then}"},
	{Code: CollectorNotRunning, Rank: Root, Meaning: "the garbage collector has to act on the object, and does not run",
		Remedy: "Start kube-controller-manager again. It runs the garbage collector. kubectl gc can do the collector's part meanwhile."},
	{Code: CollectorNotActing, Rank: Root, Meaning: "the garbage collector has to act on the object, and does not",
		Remedy: "Check the log of kube-controller-manager, which runs the garbage collector. kubectl gc can do the collector's part meanwhile."},
	{Code: ForegroundDeadlock, Rank: Root,
		Meaning: "objects that are deleted in the foreground wait for each other (GC-064, RO-023)",
		Remedy:  "Delete one of them again in the background: it no longer waits, and the others follow. Or set blockOwnerDeletion to false on one reference, which the collector does not do by itself."},
	{Code: SelfReference, Rank: Root, Meaning: "an object that is deleted in the foreground waits for itself (GC-064)",
		Remedy: "Delete it again in the background: it no longer waits."},
	{Code: BlockerBadScope, Rank: Root,
		Meaning: "a blocking dependent is cluster-scoped and names a namespaced owner: it is never collected (GC-048)",
		Remedy:  "Delete it yourself, or remove the reference."},
	{Code: BlockerUnresolvable, Rank: Root,
		Meaning: "a blocking dependent names an owner of a kind that is not served: it is never collected (GC-050)",
		Remedy:  "Delete it yourself, or remove the reference."},
	{Code: BlockerHidden, Rank: Root,
		Meaning: "an object waits for dependents, or for what a link of a pack leads to, that cannot be seen",
		Remedy:  "A type that cannot be listed may contain a dependent that blocks it. {see}. If you delete the owner again in the background, it no longer waits."},
	{Code: BlockerRecreated, Rank: Root,
		Meaning: "a blocking dependent was created after its owner's deletion began: whatever creates it does not heed the deletion, and may create it again",
		Remedy:  "Delete the owner again in the background: then it does not wait for its dependents. Or stop {maker}: it does not heed the deletion, and may create it again as often as it is deleted."},
	{Code: NamespaceControllerNotRunning, Rank: Root,
		Meaning: "the namespace controller has to empty or finalize the namespace, and does not run",
		Remedy:  "Start kube-controller-manager again. It runs the namespace controller.{then}"},
	{Code: NamespaceControllerNotActing, Rank: Root,
		Meaning: "the namespace controller has to empty or finalize the namespace, and does not",
		Remedy:  "Check the log of kube-controller-manager, which runs the namespace controller.{then}"},
	{Code: NamespaceSpecFinalizer, Rank: Root,
		Meaning: "spec.finalizers of the namespace has an entry that the namespace controller does not remove (NS-001)"},
	{Code: NamespaceDeletionFailed, Rank: Root,
		Meaning: "the namespace controller reports a failure that nothing else explains (NS-020)",
		Remedy:  "The namespace controller reports what fails, and tries again by itself.{then}"},
	{Code: APIServiceUnavailable, Rank: Obstacle,
		Meaning: "an aggregated API does not answer: what it serves can be neither listed nor deleted",
		Remedy:  "{revival} If its component was uninstalled, delete the APIService: only the registration is removed."},
	{Code: ConversionWebhookDown, Rank: Obstacle,
		Meaning: "the conversion webhook of a CustomResourceDefinition does not answer: its instances cannot be read",
		Remedy:  "Restore {service}, which converts them. If that is impossible, and the schemas of the versions are compatible, set the conversion strategy to None: the API server then changes only the apiVersion."},
	{Code: ObjectUndecodable, Rank: Obstacle,
		Meaning: "the server cannot decode an object in its storage: the type cannot be listed (API-046)",
		Remedy:  "Restore the key, or the KMS plugin, with which it was encrypted. An object that is lost can be deleted unread, with none of its finalizers honoured, where the API server's feature gate AllowUnsafeMalformedObjectDeletion is on: by default from Kubernetes 1.37, before that only if it was set. Besides delete it needs the verb unsafe-delete-ignore-read-errors on the type. Where the gate is off, the key of the object has to be removed from etcd."},
	{Code: TypeUnlistable, Rank: Obstacle, Meaning: "the server fails to list a type",
		Remedy: "Check the log of the API server."},
	{Code: AdmissionWebhookDown, Rank: Obstacle,
		Meaning: "an admission webhook with failurePolicy Fail does not answer: the object can be neither updated nor deleted",
		Remedy:  "{revival} If its component was uninstalled, delete the {config}: only the registration is removed."},
	{Code: AdmissionDenied, Rank: Obstacle, Meaning: "the API server, an admission webhook or a policy refuses the write that is needed",
		Remedy: "Do what {who} asks for, or exempt objects that are being deleted from it."},
	{Code: ObjectInvalid, Rank: Obstacle,
		Meaning: "the object is no longer valid: the server refuses every update (API-032)",
		Remedy:  "Correct these fields. Where that cannot be done, loosen the schema that the object has to meet."},
	{Code: FinalizerPutBack, Rank: Root,
		Meaning: "a webhook, a policy or a controller puts the finalizer back when it is removed (API-033)",
		Remedy:  "Find out which admission webhook or policy adds it, and exempt objects that are being deleted from it."},
	{Code: DeletionRejected, Rank: Root, Meaning: "the object is not being deleted, and the server rejects a DELETE",
		Remedy: "Do what the server says."},
	{Code: PodTerminating, Rank: Root, Meaning: "the grace period of a pod is not over",
		Remedy: "Wait. A second DELETE can make the grace period shorter."},
	{Code: PodNotKilled, Rank: Root,
		Meaning: "the grace period is over, the node is ready, and its kubelet has not removed the pod",
		Remedy:  "Check the log of the kubelet, and repair what it waits for on the node: the container runtime, the network plugin or a volume.{then}"},
	{Code: NodeGone, Rank: Root, Meaning: "the node of the pod, or of whoever removes the finalizer, does not exist",
		Remedy: "kube-controller-manager removes the pods of a node that does not exist after 40 seconds, if it works.{then}"},
	{Code: NodeNotReady, Rank: Root,
		Meaning: "the node of the pod, or of whoever removes the finalizer, is not ready: its kubelet does not remove the pod",
		Remedy:  "Recover the node. If the machine is certainly off, the taint has kube-controller-manager remove its pods and detach their volumes.{then}"},
	{Code: ClaimInUse, Rank: Root, Meaning: "pods use the PersistentVolumeClaim",
		Remedy: "Delete the pods that use it, including those that have ended. Their replacements are not scheduled while the claim is being deleted."},
	{Code: VolumeBound, Rank: Root, Meaning: "the PersistentVolume is bound to a claim",
		Remedy: "It is deleted after its claim. With the reclaim policy Delete, its data is destroyed."},
	{Code: VolumeAttached, Rank: Root, Meaning: "the volume is attached to a node",
		Remedy: "The volume is detached when no pod on the node uses it. If that fails, repair the CSI driver; if the machine is certainly off, the taint has kube-controller-manager detach it."},
	{Code: HalfDeleted, Rank: Root,
		Meaning: "nothing blocks the object, and its deletion was not completed (NS-005, RO-063)",
		Remedy:  "Delete it again: nothing blocks it, and the server completes the deletion."},
	{Code: CureForbidden, Rank: Note, Meaning: "you lack permission for what would release the object",
		Remedy: "Ask for the permission, or ask somebody who has it."},
	{Code: InProgress, Rank: Root,
		Meaning: "the deletion makes progress: objects were deleted between two readings; or it began some seconds ago, too early to tell whether it is stuck",
		Remedy:  "Wait. Nothing is stuck."},
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

// unstuck are the causes of what is not stuck: it is not being deleted, or its deletion goes on.
var unstuck = []Code{NotDeleting, InProgress, PodTerminating}

// IsStuck reports whether a cause is of an object that is stuck: it is being deleted, and the
// deletion does not go on.
func IsStuck(c v1alpha1.Cause) bool { return !slices.Contains(unstuck, Code(c.Code)) }
