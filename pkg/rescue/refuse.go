package rescue

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// The reasons of refusals that only a rescue has.
const (
	// ContentDeleted: the content of a namespace, or the instances of a CustomResourceDefinition,
	// are being deleted.
	ContentDeleted unfinalize.Code = "ContentDeleted"
	// NamespaceDeleted: the object could not be created again, because its namespace is being
	// deleted.
	NamespaceDeleted unfinalize.Code = "NamespaceDeleted"
	// RunsOnNode: a pod is stopped on its node.
	RunsOnNode unfinalize.Code = "RunsOnNode"
	// RunsAgain: a Job would run once more, or beside itself.
	RunsAgain unfinalize.Code = "RunsAgain"
	// InvalidatesTokens: tokens of a ServiceAccount are valid for its uid only.
	InvalidatesTokens unfinalize.Code = "InvalidatesTokens"
	// UnknownCluster: an archive may be of another cluster.
	UnknownCluster unfinalize.Code = "UnknownCluster"
)

func (p *Planned) refuse(code unfinalize.Code, override unfinalize.Override, because, hint string) {
	p.Refusals = append(p.Refusals, unfinalize.Refusal{Code: code, Because: because, Override: override, Hint: hint})
}

// Against are the refusals that the overrides do not cover.
func (p *Planned) Against() []unfinalize.Refusal {
	left := slices.DeleteFunc(slices.Clone(p.Refusals), p.Overrides.Covers)
	if p.Finalizers != nil {
		for _, row := range p.Finalizers.Refused() {
			left = append(left, row.Assessment.Against(p.Overrides)...)
		}
	}
	return left
}

// weigh refuses what a rescue would not bring back. A type whose objects have something of their
// own deleted with them cannot be rescued at all.
func (p *Planned) weigh(ctx context.Context, reader *cluster.Reader, live *unstructured.Unstructured) {
	switch group, resource := p.Ref.Group(), p.Ref.Resource; {
	case group == cluster.Namespaces.Group && resource == cluster.Namespaces.Resource:
		p.refuse(ContentDeleted, unfinalize.Never,
			"what is in the namespace is being deleted, and a new namespace would be empty",
			"kubectl gc why explains what blocks its deletion")
	case group == cluster.CRDs.Group && resource == cluster.CRDs.Resource:
		p.refuse(ContentDeleted, unfinalize.Never,
			"its instances are being deleted, and a new CustomResourceDefinition would have none",
			"kubectl gc why explains what blocks its deletion")
	case group == "" && resource == cluster.Pods.Resource && status.Nested(live, "spec", "nodeName") != "":
		p.refuse(RunsOnNode, unfinalize.WithForce,
			"its containers are being stopped on node "+status.Nested(live, "spec", "nodeName")+
				", and a new pod starts without their state", "")
	case group == "" && (resource == cluster.PVCs.Resource || resource == cluster.PersistentVolumes.Resource):
		p.keepDisk(ctx, reader, live)
	case group == "" && resource == cluster.ServiceAccounts.Resource:
		p.refuse(InvalidatesTokens, unfinalize.WithForce,
			"its tokens become invalid, those of running pods until they get new ones, and Secrets with its tokens are deleted", "")
	}
	if p.Ref.Namespace == "" {
		return
	}
	// A namespace that may not be read is not known to be a problem; the server says so if it is
	// one.
	if ns, err := reader.GetObject(ctx, cluster.Namespaces, "", p.Ref.Namespace); err == nil && ns != nil &&
		ns.GetDeletionTimestamp() != nil {
		p.refuse(NamespaceDeleted, unfinalize.Never,
			fmt.Sprintf("its namespace %q is being deleted, so that it could not be created again", p.Ref.Namespace), "")
	}
}

// weighRun refuses to create a Job that would run once more: one that has run to its end, as
// restore leaves it out, and one that runs, since the new one does not find the pods of the old.
func (p *Planned) weighRun() {
	if p.Ref.Group() != "batch" || p.Ref.Resource != "jobs" {
		return
	}
	suspended, _, _ := unstructured.NestedBool(p.Object.Object, "spec", "suspend")
	switch {
	case restore.IsFinished(p.Object):
		p.refuse(RunsAgain, unfinalize.WithForce, "the Job has run to its end, and a new one runs again", "")
	case !suspended:
		p.refuse(RunsAgain, unfinalize.WithForce,
			"a new Job begins again, and starts its pods beside those that are running", "")
	}
}

// keepDisk refuses what destroys the data behind a claim or a volume: to free it is to delete it.
func (p *Planned) keepDisk(ctx context.Context, reader *cluster.Reader, live *unstructured.Unstructured) {
	volume := live
	if p.Ref.Resource == cluster.PVCs.Resource {
		bound, failed := reader.Volumes(ctx, append(p.Lost[:0:0], p.Ref), 1)
		if err := failed[p.Ref.UID]; err != nil {
			p.refuse(unfinalize.DataLoss, unfinalize.WithForce,
				"whether its disk is destroyed with it is not known: "+err.Error(), "")
		}
		volume = bound[p.Ref.UID]
	}
	if volume == nil {
		return
	}
	if disk := status.Disk(volume); disk.Destroyed() {
		p.refuse(unfinalize.DataLoss, unfinalize.WithForce, "to free it "+status.Destroys([]v1alpha1.Disk{disk}),
			status.KeepDisks([]v1alpha1.Disk{disk}))
	}
}

// assess says how the object is freed: all of its finalizers are removed, as kubectl gc unfinalize
// does. That the collector is alive is no reason to leave it its own finalizers: it does nothing
// outside the cluster, and the dependents have no references any more.
func (p *Planned) assess(ctx context.Context, client *cluster.Client, reader *cluster.Reader,
	known *finalizer.Registry) error {
	assessor := unfinalize.NewAssessor(client, reader, known)
	c, err := assessor.Assess(ctx, p.Type, p.Object, unfinalize.NamesOn(p.Object))
	if err != nil {
		return err
	}
	for i := range c.Assessments {
		if v := &c.Assessments[i]; plan.IsCollectors(v.Name) {
			v.Refusals = slices.DeleteFunc(v.Refusals,
				func(r unfinalize.Refusal) bool { return r.Code == unfinalize.ActorAlive })
		}
	}
	unfinalize.Rights(ctx, client, []*unfinalize.Candidate{c})
	p.Finalizers = &unfinalize.Planned{Batches: [][]*unfinalize.Candidate{{c}}, Overrides: p.Overrides}
	return nil
}

// rights asks what the user may do, and refuses what is known to be forbidden. The right to update
// the owner's finalizers is only needed where the server enforces it (API-037), which cannot be
// seen.
func (p *Planned) rights(ctx context.Context, client *cluster.Client) {
	var needed []cluster.Access
	if p.Stage != Created {
		create := cluster.AccessTo("create", "", p.Type, p.Ref)
		create.Name = ""
		needed = append(needed, create)
	}
	if p.Volume != nil {
		needed = append(needed, cluster.AccessTo("patch", "", p.volumes, *p.Volume))
	}
	blocks := false
	for _, d := range p.Dependents {
		needed = append(needed, cluster.AccessTo("patch", "", d.Type, d.Ref))
		blocks = blocks || d.blocks()
	}
	if blocks {
		needed = append(needed, cluster.AccessTo("update", "finalizers", p.Type, p.Ref))
	}
	told := map[cluster.Access]bool{}
	for _, missing := range change.Denied(ctx, client, needed) {
		all := missing.Access
		all.Name = "" // one is enough: of a thousand dependents all are forbidden
		switch because := missing.Error(); {
		case told[all]:
		case missing.Subresource != "":
			p.refuse(unfinalize.Forbidden, unfinalize.WithForce, because+", which a reference with blockOwnerDeletion can need",
				change.AskForPermission)
		default:
			p.refuse(unfinalize.Forbidden, unfinalize.Never, because, change.AskForPermission)
		}
		told[all] = true
	}
}

// dryRun sends the removal of references and finalizers with dryRun=All, and refuses what the
// server refuses. What has changed since it was read says nothing: it is read again when it is
// written to. The object cannot be created as long as it is there, so that this is not tried.
func (p *Planned) dryRun(ctx context.Context, client *cluster.Client, reader *cluster.Reader,
	known *finalizer.Registry) error {
	refusals := make([]error, len(p.Dependents))
	cluster.Each(client, p.Dependents, func(i int, d *Dependent) {
		o, err := read(ctx, client, d)
		if err != nil {
			return // it is read again
		}
		if steps := removal(o, p.Ref.UID); len(steps) > 0 {
			_, refusals[i] = d.in(client).Send(ctx, o.GetResourceVersion(), steps, cluster.PatchOptions{DryRun: true})
		}
		if now, err := read(ctx, client, d); refusals[i] != nil &&
			(err != nil || now.GetResourceVersion() != o.GetResourceVersion()) {
			refusals[i] = nil // a test has failed
		}
	})
	for i, err := range refusals {
		if err != nil {
			p.refuse(unfinalize.ServerRefuses, unfinalize.Never,
				fmt.Sprintf("the server would not let the references of %s be removed: %v", p.Dependents[i].Ref.Quoted(), err), "")
			break // one is enough
		}
	}
	if p.Finalizers == nil {
		return context.Cause(ctx)
	}
	return p.Finalizers.DryRun(ctx, client, reader, known)
}
