package unfinalize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// DryRun sends every first write of what is not refused already with dryRun=All, and refuses what
// the server refuses: a webhook that is down or denies it, an object that would not be valid, a
// conversion that fails. Nothing is stored, and no DELETE is sent for what the packs know to be
// guarded.
func (p *Planned) DryRun(ctx context.Context, client *cluster.Client, reader *cluster.Reader,
	known *finalizer.Registry) error {
	return dryRunAll(ctx, ownership.Guarded(client, reader, known.Links()), p.Candidates(), p.Overrides)
}

func dryRunAll(ctx context.Context, client *cluster.Client, candidates []*Candidate, overrides Overrides) error {
	cluster.Each(client, candidates, func(_ int, c *Candidate) {
		if !c.Refused(overrides) {
			c.dryRun(ctx, client)
		}
	})
	return context.Cause(ctx)
}

// dryRun sends the writes of one candidate. What has changed since it was read says nothing: it is
// read anew when it is written to.
func (c *Candidate) dryRun(ctx context.Context, client *cluster.Client) {
	if patched := c.by(ByPatch); len(patched) > 0 {
		_, err := c.remove(ctx, client, patched, cluster.PatchOptions{DryRun: true})
		c.refused(ByPatch, err)
	}
	if orphaned := c.by(ByOrphaning); len(orphaned) > 0 {
		_, err := c.remove(ctx, client, orphaned, cluster.PatchOptions{DryRun: true})
		for i := 0; err == nil && i < len(c.Dependents); i++ {
			err = c.Dependents[i].dryRun(ctx, client, c.Ref.UID)
		}
		c.refused(ByOrphaning, err)
	}
	for _, method := range []Method{ByPolicy, ByDelete} {
		if len(c.by(method)) > 0 {
			_, err := c.in(client).Delete(ctx, cluster.DeleteOptions{
				Policy: string(plan.Background), ResourceVersion: c.Object.GetResourceVersion(), DryRun: true,
			})
			c.refused(method, err)
		}
	}
	if finalized := c.by(ByFinalizing); len(finalized) > 0 {
		_, err := client.Finalize(ctx, c.Object, without(c.Object, finalized), cluster.WriteOptions{DryRun: true})
		c.refused(ByFinalizing, err)
	}
}

// dryRun takes the references to the owner off a dependent without storing it.
func (d *Dependent) dryRun(ctx context.Context, client *cluster.Client, owner string) error {
	var steps []cluster.PatchStep
	for _, at := range slices.Backward(d.At) {
		steps = append(steps, change.RemoveReference(at, owner)...)
	}
	_, err := change.Object{Server: client, Type: d.Type, Ref: d.Ref}.Send(ctx, d.ResourceVersion, steps,
		cluster.PatchOptions{DryRun: true})
	if err != nil && !cluster.IsStale(err) && !cluster.IsAbsent(err, d.Type, d.Ref.Name) {
		return fmt.Errorf("%s %q: %w", d.Ref.Resource, d.Ref.Name, err)
	}
	return nil
}

// refused adds what the server says against one method to the assessments that go it.
func (c *Candidate) refused(method Method, err error) {
	if err == nil || cluster.IsStale(err) || cluster.IsAbsent(err, c.Type, c.Ref.Name) || isDryRunUnsupported(err) {
		return
	}
	unasked := cluster.Unasked(err)
	for i := range c.Assessments {
		switch {
		case c.Assessments[i].Method != method:
		case unasked != nil && !unasked.Refused:
			c.Assessments[i].Note = strings.TrimPrefix(c.Assessments[i].Note+"; "+err.Error(), "; ")
		default:
			c.Assessments[i].refuse(ServerRefuses, Never, "the server would refuse it: "+err.Error(), hintFor(err))
		}
	}
}

// isDryRunUnsupported reports whether a webhook cannot be asked without effects; the write itself
// will tell (API-041).
func isDryRunUnsupported(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "dry run")
}

// hintFor says what to do about what the server refuses.
func hintFor(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "failed calling webhook"):
		return "a webhook that is called for every such write does not respond: restore its service, or delete its webhook configuration, then try again"
	case strings.Contains(text, "denied the request"):
		return "ask whoever runs the webhook or policy to let it pass, or make an exception in its configuration"
	case strings.Contains(text, "conversion webhook"):
		return "restore the conversion webhook of the type, or set spec.conversion.strategy of its CustomResourceDefinition to None"
	case apierrors.IsInvalid(err):
		return "the stored object is no longer valid: correct the fields that the server names with kubectl edit, or relax the schema, then try again"
	}
	return ""
}

// Rights asks what the user may do, and refuses what is known to be forbidden.
func Rights(ctx context.Context, client *cluster.Client, candidates []*Candidate) {
	var needed []cluster.Access
	var of []*Assessment
	for _, c := range candidates {
		for i := range c.Assessments {
			v := &c.Assessments[i]
			for _, right := range c.rights(v) {
				needed, of = append(needed, right), append(of, v)
			}
		}
	}
	told := map[*Assessment]bool{}
	for i, missing := range change.Denied(ctx, client, needed) {
		if v := of[i]; !told[v] {
			told[v] = true // one is enough: of a thousand dependents all are forbidden
			v.refuse(Forbidden, Never, missing.Error(), change.AskForPermission)
		}
	}
}

// rights are those that the writes of an assessment need.
func (c *Candidate) rights(v *Assessment) []cluster.Access {
	switch v.Method {
	case ByPolicy, ByDelete:
		return []cluster.Access{cluster.AccessTo("delete", "", c.Type, c.Ref)}
	case ByFinalizing:
		return []cluster.Access{cluster.AccessTo("update", "finalize", c.Type, c.Ref)}
	case ByPatch:
		return []cluster.Access{cluster.AccessTo("patch", "", c.Type, c.Ref)}
	case ByOrphaning:
		needed := []cluster.Access{cluster.AccessTo("patch", "", c.Type, c.Ref)}
		for _, d := range c.Dependents {
			needed = append(needed, cluster.AccessTo("patch", "", d.Type, d.Ref))
		}
		return needed
	}
	return nil
}
