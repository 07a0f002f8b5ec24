package actor

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Class is a finalizer of the objects of one kind, which one actor removes from all of them.
type Class struct {
	Group, Kind, Finalizer string
	// Objects are those that have the finalizer, in the order in which they came.
	Objects []graph.ID
}

// Asked says whether the actor of a finalizer is looked for, and whether each namespace may have
// one of its own. IsKnown is false if no pack has an entry for this very finalizer.
type Asked func(name string, k finalizer.Known, isKnown bool) (looked, byNamespace bool)

// Classes sorts the finalizers of objects, in the order in which they come: at most so many, if
// that is not 0.
func (f *Finder) Classes(g *graph.Graph, carriers iter.Seq2[graph.ID, []string], most int, asked Asked) []*Class {
	type scoped struct{ looked, byNamespace bool }
	var all []*Class
	by, scopes := map[[4]string]*Class{}, map[[3]string]scoped{}
	for id, names := range carriers {
		ref := g.Ref(id)
		for _, name := range names {
			of := [3]string{ref.Group(), ref.Kind, name}
			in, seen := scopes[of]
			if !seen {
				k, ok := f.known.Lookup(name, of[0], of[1])
				in.looked, in.byNamespace = asked(name, k, ok && !k.Fallback)
				scopes[of] = in
			}
			if !in.looked {
				continue
			}
			key := [4]string{of[0], of[1], name}
			if in.byNamespace {
				key[3] = ref.Namespace
			}
			class := by[key]
			if class == nil {
				if most > 0 && len(all) == most {
					continue
				}
				class = &Class{Group: key[0], Kind: key[1], Finalizer: key[2]}
				by[key] = class
				all = append(all, class)
			}
			class.Objects = append(class.Objects, id)
		}
	}
	return all
}

// Survey looks for the actor of each class, at the first of its objects, and calls do with its
// index, from several goroutines. What cannot be read, or was replaced, is left out. The error is
// the end of ctx.
func (f *Finder) Survey(ctx context.Context, g *graph.Graph, classes []*Class,
	do func(ctx context.Context, i int, o *unstructured.Unstructured, a Actor)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(f.reader.Concurrency())
	for i, c := range classes {
		group.Go(func() error {
			t, _ := g.Type(c.Objects[0])
			ref := g.Ref(c.Objects[0])
			o, err := f.reader.GetLive(ctx, t, ref.Namespace, ref.Name)
			if err != nil || o == nil || string(o.GetUID()) != ref.UID {
				return context.Cause(ctx)
			}
			a, err := f.Of(ctx, o, c.Finalizer)
			if err == nil {
				do(ctx, i, o, a)
			}
			return err
		})
	}
	return group.Wait()
}
