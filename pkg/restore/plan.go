package restore

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Options say what is restored, and how.
type Options struct {
	// Names are the objects that are meant, each with what it owns or contains; empty for all of
	// the archive.
	Names []Name
	// Namespace restricts it to one namespace; empty for any.
	Namespace string
	// All also restores what controllers make again by themselves, and what has run to its end.
	All bool
	// Overwrite applies the archived object over one that has its name.
	Overwrite bool
	// Status writes the archived status too.
	Status bool
	// RequireOwners holds objects of which an owner does not come back; otherwise they are restored
	// without that reference.
	RequireOwners bool
	// OtherCluster allows an archive of another cluster, or of one that is not known.
	OtherCluster bool
}

// What a step does.
const (
	// Create creates the object.
	Create plan.Verb = "create"
	// Apply applies it over the object that has its name.
	Apply plan.Verb = "apply"
	// Refer adds references to owners that have another uid now, to an object that is there.
	Refer plan.Verb = "refer"
	// SetStatus writes the archived status of an object that was restored before and has none yet.
	SetStatus plan.Verb = "status"
	// Rebind gives the claim of a PersistentVolume its new uid.
	Rebind plan.Verb = "rebind"
)

// Step is one write, with what follows from it for the same object.
type Step struct {
	Verb plan.Verb
	// Object is as archived for Create, with the uid that it had; otherwise it is the live object.
	Object graph.Ref
	Type   graph.Type
	// References are those that the object gets.
	References []Reference
	// Late are those that it gets after it was created, since an owner is created later: the owners
	// own each other.
	Late []Reference
	// Notes say what does not come back as it was.
	Notes []string

	item *item
	// maker is the controller that makes the object as well, empty for none: of two the later one
	// stays out, and of too many the controller deletes one.
	maker string
	// unbound says of a claim that it gets another volume.
	unbound bool
	// claim is the claim that a Rebind is for, with its archived uid; claimUID is that of the
	// restored one, empty if it is created too.
	claim    *item
	claimUID string
	// wave is when a Create is due; those of one wave follow the archive's order.
	wave int
}

// Reference is an ownerReference of a restored object.
type Reference struct {
	// OwnerReference is as archived, with the uid that the owner had.
	metav1.OwnerReference
	// NewUID is that of the owner now; empty for an owner that is created too.
	NewUID string
}

// Reason says in a word why an object is left alone or held.
type Reason = string

// The reasons for leaving an archived object out. The first group is as it should be, of the second
// (Held) the object could not be restored now.
const (
	Exists         Reason = "Exists"         // it is there, it or what was created from it
	NameTaken      Reason = "NameTaken"      // another object has its name
	ByController   Reason = "ByController"   // a controller makes it again
	Finished       Reason = "Finished"       // it has run to its end, and would run again
	StorageDeleted Reason = "StorageDeleted" // a volume whose storage was deleted with it
	IsEvent        Reason = "IsEvent"        // an event tells what happened at the time

	BeingDeleted     Reason = "BeingDeleted"     // an object of its name is being deleted
	NamespaceMissing Reason = "NamespaceMissing" // neither the cluster nor the archive has its namespace
	NamespaceDeleted Reason = "NamespaceDeleted" // its namespace is being deleted
	NotServed        Reason = "NotServed"        // no API serves its kind in its version
	OwnerMissing     Reason = "OwnerMissing"     // an owner does not come back, and --require-owners was given
	OwnerUnknown     Reason = "OwnerUnknown"     // an owner cannot be read
	Unreadable       Reason = "Unreadable"       // its place cannot be read
	VolumeTaken      Reason = "VolumeTaken"      // its volume belongs to another claim
)

// Plan is what a restore does.
type Plan struct {
	// File is the archive, and Head the plan that it was written for.
	File string
	Head *v1alpha1.Plan
	// Steps are in the order in which they are begun. A step waits for its owners.
	Steps []Step
	// Left are objects that are not restored on purpose, and Held those that cannot be restored
	// now.
	Left, Held []v1alpha1.Survivor
	// Forbidden are rights that the user needs and does not have. If there are any, nothing is
	// done.
	Forbidden []cluster.MissingRight

	opts  Options
	index *index
	types []graph.Type
	// created is the archive's companion, and copies are objects that are to be noted there: an
	// earlier restore that was killed has created them, by the archived uid.
	created *archive.Created
	copies  map[string]string
}

// itemOf is the archived object that had a uid; nil if the archive has none.
func (p *Plan) itemOf(uid string) *item { return p.index.byUID[uid] }

// Printed returns the plan as it is printed for programs.
func (p *Plan) Printed() *v1alpha1.RestorePlan {
	out := &v1alpha1.RestorePlan{
		TypeMeta: v1alpha1.TypeMeta("RestorePlan"), Archive: p.File, Actions: []v1alpha1.RestoreAction{},
		Left: append([]v1alpha1.Survivor{}, p.Left...), Held: append([]v1alpha1.Survivor{}, p.Held...),
		Forbidden: []v1alpha1.Forbidden{}, Complete: len(p.Held) == 0,
	}
	for i := range p.Steps {
		out.Actions = append(out.Actions, p.Steps[i].printed())
	}
	for _, f := range p.Forbidden {
		out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{
			Object: f.Type.Ref(f.Namespace, f.Name, ""), Verb: f.Verb, Reason: f.Reason,
		})
	}
	return out
}

// Printed returns what came of a plan as it is printed for programs.
func (r *Result) Printed(p *Plan) *v1alpha1.RestoreResult {
	out := &v1alpha1.RestoreResult{
		TypeMeta: v1alpha1.TypeMeta("RestoreResult"), Done: []v1alpha1.RestoreAction{}, Failed: []v1alpha1.RestoreFailed{},
		Left: append([]v1alpha1.Survivor{}, p.Left...), Held: append([]v1alpha1.Survivor{}, p.Held...),
		Complete: len(p.Held) == 0 && len(r.Failed) == 0,
	}
	for _, d := range r.Done {
		a := d.Step.printed()
		a.UID = d.UID
		a.Notes = slices.Concat(a.Notes, d.Notes)
		out.Done = append(out.Done, a)
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.RestoreFailed{Action: f.Step.printed(), Error: f.Err.Error()})
	}
	for _, s := range r.Unasked {
		out.Unasked = append(out.Unasked, s.printed())
	}
	return out
}

func (s *Step) printed() v1alpha1.RestoreAction {
	a := v1alpha1.RestoreAction{Verb: string(s.Verb), Object: s.Object,
		Owners: []v1alpha1.RestoredOwner{}, Notes: s.Notes}
	for _, r := range slices.Concat(s.References, s.Late) {
		a.Owners = append(a.Owners, v1alpha1.RestoredOwner{Kind: r.Kind, Name: r.Name, ArchivedUID: string(r.UID),
			UID: r.NewUID})
	}
	return a
}

// waves say which kinds are created before and after the others: what others need to be created at
// all, and last what stands in their way.
var waves = map[schema.GroupKind]int{
	kindDefinition: 0, kindNamespace: 0,
	kindAccount: 1, {Kind: "Secret"}: 1, kindConfigMap: 1, kindVolume: 1,
	{Group: "storage.k8s.io", Kind: "StorageClass"}: 1, {Group: "scheduling.k8s.io", Kind: "PriorityClass"}: 1,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:              1,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: 1, {Group: "rbac.authorization.k8s.io", Kind: "Role"}: 1,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: 1,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        1,
	kindClaim: 2, kindService: 2,
	{Kind: "ResourceQuota"}: 4, {Kind: "LimitRange"}: 4, {Group: "policy", Kind: "PodDisruptionBudget"}: 4,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     5,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   5,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        5,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: 5,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          5,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   5,
}

// anyWave is that of all other kinds, and lastWave the last.
const anyWave, lastWave = 3, 5

// wavesOf says when each object is created: never before its owners, however its kind stands.
func wavesOf(x *index, created func(*item) bool) []int {
	of := make([]int, len(x.items))
	for i, it := range x.items { // owners stand before their dependents, but for those of a cycle
		wave, special := waves[it.kind()]
		if !special {
			wave = anyWave
		}
		for _, r := range it.owners {
			if owner := x.byUID[string(r.UID)]; owner != nil && owner.number < i && created(owner) {
				wave = max(wave, of[owner.number])
			}
		}
		of[i] = wave
	}
	return of
}

// isBefore reports whether an object is created before another.
func isBefore(waves []int, a, b *item) bool {
	if waves[a.number] != waves[b.number] {
		return waves[a.number] < waves[b.number]
	}
	return a.number < b.number
}

// preflight asks the server for the rights that the steps need, before the first of them.
func (p *Plan) preflight(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) error {
	var accesses []cluster.Access
	asked := map[cluster.Access]bool{}
	add := func(s *Step, verb, subresource string) {
		a := cluster.Access{Verb: verb, Type: s.Type, Subresource: subresource, Namespace: s.Object.Namespace,
			Name: s.Object.Name}
		if verb == "create" {
			a.Name = "" // which no authorizer is told
		}
		if !asked[a] {
			asked[a] = true
			accesses = append(accesses, a)
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Verb == Create {
			add(s, "create", "")
		}
		if s.Verb != Create && s.Verb != SetStatus || len(s.Late) > 0 {
			add(s, "patch", "")
		}
		if p.writesStatus(s) {
			add(s, "update", "status")
		}
	}
	for _, missing := range change.Denied(ctx, client, accesses) {
		p.Forbidden = append(p.Forbidden, missing)
	}
	p.Forbidden = append(p.Forbidden, change.Enforced(ctx, client, p.enforcements(client, catalog))...)
	return context.Cause(ctx)
}

// writesStatus reports whether a step writes the status of its object.
func (p *Plan) writesStatus(s *Step) bool {
	return s.Verb == SetStatus || p.opts.Status && s.Verb == Create && s.item.facts.status
}

// nobody is the uid of an owner that is not there yet. The plugin looks at the kind alone.
const nobody = "00000000-0000-4000-8000-000000000000"

// enforcements are the rights that the plugin can ask for, each with a dry run of a write for which
// it does.
func (p *Plan) enforcements(client *cluster.Client, catalog *cluster.Catalog) []change.Enforcement {
	var all []change.Enforcement
	asked := map[cluster.Access]bool{}
	add := func(access cluster.Access, try func(context.Context) error) {
		if !asked[access] {
			asked[access] = true
			all = append(all, change.Enforcement{Access: access, Try: try})
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Verb == Refer {
			access := cluster.AccessTo("delete", "", s.Type, s.Object)
			add(access, func(ctx context.Context) error { return probePatch(ctx, client, s) })
		}
		for _, ref := range slices.Concat(s.References, s.Late) {
			t, served := catalog.Kind(ref.APIVersion, ref.Kind)
			if !served || !graph.ReferenceOf(ref.OwnerReference).Block || s.Object.Namespace == "" {
				continue
			}
			access := cluster.Access{Verb: "update", Type: t, Subresource: "finalizers", Namespace: s.Object.Namespace}
			add(access, func(ctx context.Context) error {
				return probeCreate(ctx, client, catalog, s.Object.Namespace, ref.OwnerReference)
			})
		}
	}
	return all
}

// probeCreate creates a ConfigMap with a reference, in a dry run.
func probeCreate(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, namespace string,
	ref metav1.OwnerReference) error {
	t, served := catalog.Lookup(schema.GroupResource{Resource: "configmaps"})
	if !served {
		return nil
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("ConfigMap")
	o.SetGenerateName("kubectl-gc-probe-")
	ref.UID = nobody
	o.SetOwnerReferences([]metav1.OwnerReference{ref})
	_, err := client.Create(ctx, t.Type, namespace, o, cluster.WriteOptions{DryRun: true})
	return err
}

// probePatch adds the references of a step to its object, in a dry run.
func probePatch(ctx context.Context, client *cluster.Client, s *Step) error {
	o := change.Object{Server: client, Type: s.Type, Ref: s.Object}
	now, err := o.Read(ctx)
	if err != nil {
		return err
	}
	ref := s.References[0].OwnerReference
	ref.UID = nobody
	_, err = o.Send(ctx, "", additions(now, s.References[:1], []metav1.OwnerReference{ref}),
		cluster.PatchOptions{DryRun: true})
	return err
}
