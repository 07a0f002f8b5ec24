package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Plan is what a deletion does: the value that is printed before it and that is carried out.
type Plan struct {
	metav1.TypeMeta `json:",inline"`
	Origin          `json:",inline"`
	// Cluster is the uid of the namespace kube-system of the cluster that the plan is about. It is
	// only in an archive, and empty if it could not be read.
	Cluster string `json:"cluster,omitempty"`
	// Archived is how many objects follow in an archive, and ArchivedAt when it was written, by the
	// server's clock. They are only there.
	Archived   *int         `json:"archived,omitempty"`
	ArchivedAt *metav1.Time `json:"archivedAt,omitempty"`
	// Policy is the propagation policy of the requested deletes: Background, Foreground or Orphan.
	Policy string      `json:"policy"`
	Roots  []ObjectRef `json:"roots"`
	// Digest is over what the plan does, of kubectl gc delete: two plans with the same digest do
	// the same. Its --confirm takes it.
	Digest string `json:"digest,omitempty"`
	// GracePeriodSeconds is that of the requested deletes, null if each object has its own;
	// PropagateGracePeriod gives it to the dependents too.
	GracePeriodSeconds   *int64 `json:"gracePeriodSeconds,omitempty"`
	PropagateGracePeriod bool   `json:"propagateGracePeriod,omitempty"`
	// GC is client if this command does the garbage collector's part of the deletion.
	GC string `json:"gc,omitempty"`
	// Complete is false when there are gaps that can hide a dependent of what is deleted: the plan
	// is then the least that happens.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
	// Actions are what happens if everybody who has a finalizer on an object of the cascade removes
	// it in the end.
	Actions []Action `json:"actions"`
	// Stages are those of an ordered deletion: each begins when all is gone that the one before
	// deletes. OrderCycle are objects that cannot be ordered, because each has to be gone before
	// the next is deleted, and the last before the first.
	Stages     []Stage     `json:"stages,omitempty"`
	OrderCycle []ObjectRef `json:"orderCycle,omitempty"`
	// Objects are what an archive is of that was written without deleting or changing anything.
	// They are only there.
	Objects []ObjectRef `json:"objects,omitempty"`
	// Deleted are the objects that are gone after the actions.
	Deleted   []ObjectRef `json:"deleted"`
	Survivors []Survivor  `json:"survivors"`
	Blockers  []Blocker   `json:"blockers"`
	// Stuck are objects that are never gone: who removes their finalizers is deleted first, or they
	// would not be gone although every finalizer of others was removed.
	Stuck []Survivor `json:"stuck"`
	// Unconfirmed are those of Deleted and Stuck to which only links lead that they do not confirm:
	// kubectl gc writes to none of them, and saves none of them.
	Unconfirmed []ObjectRef `json:"unconfirmed,omitempty"`
	// Remaining are those of Deleted that are left if the finalizers of others are never removed.
	Remaining []Survivor `json:"remaining"`
	// Cycles are the rings among Stuck in which each waits for the next, and the last for the
	// first.
	Cycles [][]ObjectRef `json:"cycles,omitempty"`
	// NonBlocking are the dependents that the policy Foreground does not wait for.
	NonBlocking []NonBlocking `json:"nonBlocking"`
	// Forbidden are the writes that the server would refuse this user. If there are any, nothing is
	// done.
	Forbidden []Forbidden `json:"forbidden"`
	// Unread are the pods and StatefulSets of the cascade whose content could not be read, or was
	// too much to read: whether the pods terminate gracefully and which claims the StatefulSets
	// leave behind is not known.
	Unread []ObjectRef `json:"unread,omitempty"`
	// Verdicts are what is to be done about each finalizer, of kubectl gc unfinalize.
	Verdicts []FinalizerVerdict `json:"verdicts,omitempty"`
	// Stranded are what is left in the namespaces that are finalized all the same.
	Stranded []ObjectRef `json:"stranded,omitempty"`
	// Follows are the objects that the garbage collector deletes when those are gone that
	// finalizers are removed from, of kubectl gc unfinalize.
	Follows []Follower `json:"follows,omitempty"`
	// References are those of the dependents to the object, of kubectl gc rescue, which removes
	// them and puts them back.
	References []Reference `json:"references,omitempty"`
	// Disks are the volumes whose data are destroyed because they, or the claims that are bound to
	// them, are deleted.
	Disks []Disk `json:"disks,omitempty"`
	// UnreadDisks are the PersistentVolumeClaims and PersistentVolumes among the Deleted of which
	// it is not known whether data are destroyed.
	UnreadDisks []ObjectRef `json:"unreadDisks,omitempty"`
	// Freed is what no longer holds or asks for something afterwards, null if that is nothing and all
	// could be read; Outside are things outside the cluster for which the Deleted stand, as far as
	// these name them.
	Freed   *Freed    `json:"frees,omitempty"`
	Outside []Outside `json:"outside,omitempty"`
	// UnreadOutside are those of the Deleted that stand for something there and could not be read.
	UnreadOutside []ObjectRef `json:"unreadOutside,omitempty"`
	// Idle are finalizers that the deletion waits for and whose actors are installed and do not
	// run, or ignore an object that is paused.
	Idle []IdleActor `json:"idle,omitempty"`
	// Spared are those of Deleted whose part outside the cluster stays, and UnreadSpared those of
	// which that is not known.
	Spared       []Spared    `json:"spared,omitempty"`
	UnreadSpared []ObjectRef `json:"unreadSpared,omitempty"`
	// Decided are the fields that tell the actors of finalizers what to do with what they manage
	// outside the cluster, and that identify it there.
	Decided []Decided `json:"decided,omitempty"`
	// Recreated are those of Deleted that a program probably creates again, because an object that
	// is not deleted names them or is their controller.
	Recreated []Recreated `json:"recreated,omitempty"`
	// Guarded are the objects whose deletion the server refuses as long as their guards are there.
	// The other fields do not take that into account.
	Guarded []Guarded `json:"guarded,omitempty"`
	// Abandoned are finalizers of objects that are not deleted, which nobody removes any more
	// afterwards.
	Abandoned []Abandoned `json:"abandoned,omitempty"`
	// Unserved are APIServices that are not deleted although what answers them is: namespaces that
	// are deleted can hang afterwards.
	Unserved []Unserved `json:"unserved,omitempty"`
	// Protected are objects that would be deleted by others and whose deletion the server refuses,
	// and Asked says what it was asked. Both are there with --dry-run=server.
	Protected []Protected `json:"protected,omitempty"`
	Asked     *Asked      `json:"asked,omitempty"`
	// Findings are what a person should know of the plan, as the table prints it.
	Findings []PlanFinding `json:"findings,omitempty"`
	// DependsOnTiming is true when the end can be another one, depending on how fast the collector
	// is.
	DependsOnTiming bool `json:"dependsOnTiming,omitempty"`
	// Unsettled are objects that are known to be able to end otherwise than the plan says,
	// depending on what the collector takes up first.
	Unsettled []ObjectRef `json:"unsettled,omitempty"`
}

// NewPlan is a Plan of nothing that met gaps, with the lists that are always there.
func NewPlan(gaps []Gap) *Plan {
	return &Plan{
		TypeMeta: TypeMeta("Plan"), Complete: len(gaps) == 0, Gaps: append([]Gap{}, gaps...), Roots: []ObjectRef{},
		Actions: []Action{}, Deleted: []ObjectRef{}, Survivors: []Survivor{}, Blockers: []Blocker{}, Stuck: []Survivor{},
		Remaining: []Survivor{}, NonBlocking: []NonBlocking{}, Forbidden: []Forbidden{},
	}
}

// PlanFinding is what a person should know of a plan.
type PlanFinding struct {
	// Code names the kind of finding. Codes do not change between versions.
	Code string `json:"code"`
	// Severity is error, warning or info.
	Severity string `json:"severity"`
	// Message says it in a clause.
	Message string `json:"message"`
	// Objects are those that it is about; empty where it counts many.
	Objects []ObjectRef `json:"objects,omitempty"`
}

// Stage is a part of an ordered deletion.
type Stage struct {
	// Objects are those whose deletes are sent, and Deleted all that are gone with them.
	Objects []ObjectRef `json:"objects"`
	Deleted []ObjectRef `json:"deleted"`
}

// Action is one write.
type Action struct {
	// Verb is delete, orphan, unblock, block, setPolicy, removeFinalizer, finalizeNamespace, or
	// adopt, which sets a reference; of kubectl gc rescue also create, updateStatus and rebind.
	Verb   string    `json:"verb"`
	Object ObjectRef `json:"object"`
	// Policy is the propagation policy of a delete.
	Policy string `json:"policy,omitempty"`
	// Owners are the uids of the owners whose references are removed, unblocked, made to block set
	// or put back.
	Owners []string `json:"owners,omitempty"`
	// Finalizers are those that the action removes.
	Finalizers []string `json:"finalizers,omitempty"`
	// Field is what setPolicy sets to Value: how a program deletes what the object names.
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	// Wave is when it is due, from 1: what one wave brings about, the next reacts to. What makes
	// references block or sets a policy is due before that, in 0.
	Wave int `json:"wave"`
	// Stage is that of an ordered deletion, from 1.
	Stage int `json:"stage,omitempty"`
	// By is client, collector or controller.
	By      string `json:"by"`
	Because string `json:"because"`
	// Reason is Because in one word.
	Reason string `json:"reason"`
	// Confirmed says of an action because of a link whether the object at its end confirms it; only
	// with a link.
	Confirmed *bool `json:"confirmed,omitempty"`
	// Outside says what stays outside the cluster without the finalizers, as far as the object
	// names it.
	Outside []string `json:"outside,omitempty"`
}

// IdleActor is who should remove a finalizer, or delete an object because of a link, and does not.
type IdleActor struct {
	// Object is one of those that carry the finalizer, or that are to be deleted: the finalizer is
	// empty then.
	Object    ObjectRef `json:"object"`
	Finalizer string    `json:"finalizer"`
	Actor     string    `json:"actor"`
	Evidence  []string  `json:"evidence"`
	// Paused says that it runs, as far as is known, and ignores the object, which says that it is
	// paused.
	Paused bool `json:"paused,omitempty"`
	// Obstacle is why it does not remove the finalizer, as the codes of kubectl gc why name it.
	Obstacle Obstacle `json:"obstacle"`
}

// Obstacle is why an actor does not remove a finalizer, as a code of the causes.
type Obstacle string

// The obstacles. Paused is the only one of those that the object itself sets up.
const (
	ActorNotFound     Obstacle = "FinalizerActorNotFound"
	NotRunning        Obstacle = "FinalizerActorDead"
	NotLeading        Obstacle = "ActorNotLeading"
	NotWatching       Obstacle = "ActorNotWatching"
	NotPermitted      Obstacle = "ActorForbidden"
	DependencyMissing Obstacle = "DependencyMissing"
	Paused            Obstacle = "ActorPaused"
)

// Abandoned is a finalizer of objects that are not deleted, which nobody removes any more because
// who does so is deleted.
type Abandoned struct {
	Finalizer string `json:"finalizer"`
	// Count is how many objects have it, and Objects are the first of them.
	Count   int         `json:"count"`
	Objects []ObjectRef `json:"objects"`
	// Actor is what is deleted and would be needed to remove it.
	Actor ObjectRef `json:"actor"`
}

// Unserved is an APIService that stays without what answers it.
type Unserved struct {
	APIService ObjectRef `json:"apiService"`
	// Backend is what is deleted: the Service, or a workload behind it.
	Backend ObjectRef `json:"backend"`
	// Namespaces are those of the plan that are stuck because of that.
	Namespaces []ObjectRef `json:"namespaces,omitempty"`
}

// Protected is an object whose deletion the server refuses.
type Protected struct {
	Object ObjectRef `json:"object"`
	// Message is what the server says: the policy or the webhook, and why.
	Message string `json:"message"`
}

// Asked is of how many deletes of others the server was asked, with dryRun=All, whether it refuses
// them.
type Asked struct {
	Count int `json:"count"`
	Of    int `json:"of"`
	// Unanswered is how many of them it has not said anything about.
	Unanswered int `json:"unanswered,omitempty"`
	// AsControllers is true if it was asked in the name of the controllers that send the deletes,
	// and not in the user's.
	AsControllers bool `json:"asControllers"`
}

// Follower is an object that is deleted because another one is gone.
type Follower struct {
	Object ObjectRef `json:"object"`
	// Of is the object that finalizers are removed from.
	Of ObjectRef `json:"of"`
}

// Survivor is an object that a deletion leaves, and why.
type Survivor struct {
	Object  ObjectRef `json:"object"`
	Because string    `json:"because"`
	Reason  string    `json:"reason"`
}

// Blocker is an object of a cascade that others have to let go.
type Blocker struct {
	Object     ObjectRef `json:"object"`
	Finalizers []string  `json:"finalizers"`
	// Until are the objects that have to be gone before a finalizer is removed.
	Until []ObjectRef `json:"until,omitempty"`
	// GracePeriodSeconds is how long a pod on a node may take to terminate.
	GracePeriodSeconds int64  `json:"gracePeriodSeconds,omitempty"`
	Because            string `json:"because"`
}

// Spared is an object that is deleted while what it stands for outside the cluster stays.
type Spared struct {
	Object    ObjectRef `json:"object"`
	Finalizer string    `json:"finalizer"`
	// Because says what in the object says so: spec.deletionPolicy is Orphan.
	Because string `json:"because"`
}

// Decided is a field that tells the actor of a finalizer what to do with what it manages outside
// the cluster, or that identifies it there.
type Decided struct {
	Object    ObjectRef `json:"object"`
	Finalizer string    `json:"finalizer"`
	// Field names it: spec.deletionPolicy. Value is what it has, as JSON; of more than a kilobyte
	// its checksum, and empty if it is not there.
	Field string `json:"field"`
	Value string `json:"value,omitempty"`
}

// Recreated is an object that a program creates again when it is deleted.
type Recreated struct {
	Object ObjectRef `json:"object"`
	// Owner is the object that names it, in Field, or that is its controller: then Field is
	// metadata.ownerReferences. It is empty if Owner selects Object by its labels, or
	// makes it for its pods. Owner is Object itself where Program makes it whatever names it.
	Owner ObjectRef `json:"owner"`
	Field string    `json:"field"`
	// Program is who creates it, as Crossplane. It is empty if that is not certain: Owner is a
	// controller that may not make it again. With is what does, as the next sync; empty if the
	// program does it of its own accord.
	Program string `json:"program"`
	With    string `json:"with,omitempty"`
}

// Guarded is an object that another one keeps from being deleted.
type Guarded struct {
	Object ObjectRef `json:"object"`
	Guard  ObjectRef `json:"guard"`
	// RepeatedBy is the program that deletes the object once the guard is gone, because somebody
	// tried to before.
	RepeatedBy string `json:"repeatedBy,omitempty"`
}

// NonBlocking is a dependent whose owner, deleted in the foreground, can be gone before it, because
// blockOwnerDeletion is not set.
type NonBlocking struct {
	Object ObjectRef `json:"object"`
	Owner  ObjectRef `json:"owner"`
}

// Forbidden is a write that the user has no right to.
type Forbidden struct {
	Object ObjectRef `json:"object"`
	// Verb is the API server's: delete, patch, update.
	Verb string `json:"verb"`
	// Reason says what is missing, with the authorizer's words where it had any.
	Reason string `json:"reason"`
}
