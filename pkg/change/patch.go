package change

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Patch is a change of an object by a JSON patch.
type Patch struct {
	cluster.PatchOptions
	// Seen is the object as it is known already; nil to read it before the first decision.
	Seen *graph.Object
	// Decide returns the steps, decided on the object as it is. Without any, nothing is sent.
	Decide func(now *graph.Object) ([]cluster.PatchStep, error)
	// Verify compares the answer with what was asked for.
	Verify func(answered *graph.Object) error
}

// Patch sends a patch, with tests on the uid and on the resourceVersion of what it was decided on.
// It returns the object as the server answered, or as it is if nothing was to be changed; the
// errors are those of Write.Do.
func (o Object) Patch(ctx context.Context, p Patch) (*graph.Object, error) {
	now := p.Seen
	w := Write{
		Read: func(ctx context.Context) (string, error) {
			read, err := o.Read(ctx)
			if err != nil {
				return "", err
			}
			now = read
			return read.ResourceVersion, nil
		},
		Decide: func(context.Context) (func(context.Context) error, error) {
			steps, err := p.Decide(now)
			if err != nil || len(steps) == 0 {
				return nil, err
			}
			return func(ctx context.Context) error {
				answered, err := o.Send(ctx, now.ResourceVersion, steps, p.PatchOptions)
				if err != nil {
					return err
				}
				now = answered
				return p.Verify(answered)
			}, nil
		},
	}
	if now != nil {
		w.Seen = now.ResourceVersion
	}
	if err := w.Do(ctx); err != nil {
		return nil, err
	}
	return now, nil
}

// Send sends the steps once, after tests that the object is the one that is meant and has a
// version. The error is the server's, or one of Read if the answer is about another object.
func (o Object) Send(ctx context.Context, version string, steps []cluster.PatchStep,
	opts cluster.PatchOptions) (*graph.Object, error) {
	steps = append(cluster.Unchanged(o.Ref.UID, version), steps...)
	answered, err := o.Server.Patch(ctx, o.Type, o.Ref.Namespace, o.Ref.Name, steps, opts)
	if err != nil {
		return nil, err
	}
	return answered, o.identify(answered.UID)
}
