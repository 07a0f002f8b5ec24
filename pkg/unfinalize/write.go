package unfinalize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// patch removes finalizers from the metadata.
func (p *performer) patch(ctx context.Context, o *Outcome, a Action) error {
	c := o.Candidate
	answer, err := c.remove(ctx, p.client, a.assessments, cluster.PatchOptions{})
	if err != nil {
		return err
	}
	return p.verify(ctx, o, a, answer.Finalizers)
}

// verify compares the finalizers in the answer to a write with what was asked. What was removed is
// done; what is there all the same is a failure: something that changes writes on their way has put
// it back (API-033).
func (p *performer) verify(ctx context.Context, o *Outcome, a Action, answered []string) error {
	var removed, back []Assessment
	for _, v := range a.assessments {
		if slices.Contains(answered, v.Name) {
			back = append(back, v)
			continue
		}
		removed = append(removed, v)
		o.off[v.FinalizerRef] = true
	}
	if a.Finalizers = names(removed); len(removed) > 0 {
		p.done(o, a)
	}
	if len(back) == 0 {
		return nil
	}
	err := p.client.PutBackAtOnce(ctx, o.Candidate.Type, "finalizer "+strings.Join(names(back), ", "))
	for _, v := range back {
		o.PutBack = append(o.PutBack, PutBack{FinalizerRef: v.FinalizerRef, InRequest: true, Webhooks: err.Mutators})
	}
	return err
}

// deleteAgain deletes the object in the background, as it was assessed.
func (p *performer) deleteAgain(ctx context.Context, o *Outcome, a Action) error {
	c := o.Candidate
	answer, err := p.client.Delete(ctx, c.Type, c.Ref.Namespace, c.Ref.Name, c.Ref.UID, cluster.DeleteOptions{
		Policy: string(a.Policy), ResourceVersion: c.Object.GetResourceVersion(),
	})
	if err != nil {
		return err
	}
	o.Gone = answer.Gone
	for _, v := range a.assessments {
		o.asked[v.FinalizerRef] = true
	}
	// which is looked at again (API-006)
	ignored := func(v Assessment) bool { return slices.Contains(answer.Finalizers, v.Name) }
	a.Finalizers = names(slices.DeleteFunc(slices.Clone(a.assessments), ignored))
	p.done(o, a)
	return nil
}

// finalize removes finalizers from the spec of a namespace. That it was empty when it was assessed
// does not tell what it is now.
func (p *performer) finalize(ctx context.Context, o *Outcome, a Action) error {
	c := o.Candidate
	if !p.overrides.Force && slices.ContainsFunc(a.assessments,
		func(v Assessment) bool { return lastHold(c.Object, v.FinalizerRef) }) {
		now, err := content(ctx, p.client, c.Ref.Name)
		if err != nil {
			return err
		}
		c.details.Empty = now
		c.reassess(c.Object)
		if err := against(c.By(ByFinalizing), p.overrides); err != nil {
			return err
		}
	}
	answer, err := p.client.Finalize(ctx, c.Object, without(c.Object, a.assessments), cluster.WriteOptions{})
	if err != nil {
		return err
	}
	return p.verify(ctx, o, a, specFinalizers(answer))
}

// in is the object of a candidate on a server.
func (c *Candidate) in(client *cluster.Client) change.Object {
	return change.Object{Server: client, Type: c.Type, Ref: c.Ref}
}

// remove removes finalizers from the metadata of the object as it was assessed.
func (c *Candidate) remove(ctx context.Context, client *cluster.Client, assessments []Assessment,
	opts cluster.PatchOptions) (*graph.Object, error) {
	return c.in(client).Send(ctx, c.Object.GetResourceVersion(), removal(c.Object, assessments), opts)
}

// removal removes finalizers from the metadata of an object, each by where it stands and if it
// stands there; the others keep their order (P-07). They go from the last to the first, so that
// each step finds what it means where it was.
func removal(o *unstructured.Unstructured, assessments []Assessment) []cluster.PatchStep {
	var steps []cluster.PatchStep
	for i, name := range slices.Backward(o.GetFinalizers()) {
		if has(assessments, FinalizerRef{name, finalizer.InMetadata}) {
			path := fmt.Sprintf("/metadata/finalizers/%d", i)
			steps = append(steps, cluster.PatchStep{Op: "test", Path: path, Value: name},
				cluster.PatchStep{Op: "remove", Path: path})
		}
	}
	return steps
}

// without are the spec.finalizers of a namespace but for some.
func without(o *unstructured.Unstructured, assessments []Assessment) []string {
	return slices.DeleteFunc(slices.Clone(specFinalizers(o)), func(name string) bool {
		return has(assessments, FinalizerRef{name, finalizer.InSpec})
	})
}

func has(assessments []Assessment, h FinalizerRef) bool {
	return slices.ContainsFunc(assessments, func(v Assessment) bool { return v.FinalizerRef == h })
}
