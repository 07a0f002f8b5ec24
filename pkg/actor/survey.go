package actor

import (
	"context"
	"iter"
	"slices"

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

// Asked reports whether the actor of a finalizer is looked for. IsKnown is false if no pack has an
// entry for this very finalizer.
type Asked func(name string, k finalizer.Known, isKnown bool) bool

// Classes sorts the finalizers of objects, in the order in which they come: at most so many, if
// that is not 0, and left is how many finalizers of objects are in none then. The objects of a class
// have the same actor, as far as their kind and namespace tell; each namespace may have one of its
// own of an actor that no pack knows.
func (f *Finder) Classes(g *graph.Graph, carriers iter.Seq2[graph.ID, []string], most int, asked Asked) (all []*Class,
	left int) {
	type scoped struct{ looked, byNamespace bool }
	by, scopes := map[[4]string]*Class{}, map[[3]string]*scoped{}
	for id, names := range carriers {
		ref := g.Ref(id)
		for _, name := range names {
			of := [3]string{ref.Group(), ref.Kind, name}
			in := scopes[of]
			if in == nil {
				k, ok := f.known.Lookup(name, of[0], of[1])
				ok = ok && !k.Fallback
				in = &scoped{looked: asked(name, k, ok), byNamespace: !ok || k.Alive.Instance.Namespace}
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
					left++
					continue
				}
				class = &Class{Group: key[0], Kind: key[1], Finalizer: key[2]}
				by[key] = class
				all = append(all, class)
			}
			class.Objects = append(class.Objects, id)
		}
	}
	return all, left
}

// Survey looks for the actor of each class and returns what of says about it, in the order of the
// classes; of is called from several goroutines. The actor is judged at the first object that is
// still there. Where it may be another for each, it is judged at each, at most at so many of a
// class, and of is called with those for which the same was seen; left is how many were not judged.
// What cannot be read is one of them. The error is the end of ctx.
func Survey[T any](ctx context.Context, f *Finder, g *graph.Graph, classes []*Class, most int,
	of func(ctx context.Context, c *Class, o *unstructured.Unstructured, a Actor) T) (all []T, left int, err error) {
	found, lefts := make([][]T, len(classes)), make([]int, len(classes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(f.reader.Concurrency())
	for i, c := range classes {
		group.Go(func() (err error) {
			var judged []*judgement
			judged, lefts[i], err = f.judgements(ctx, g, c, most)
			for _, j := range judged {
				found[i] = append(found[i], of(ctx, &j.class, j.object, j.actor))
			}
			return err
		})
	}
	err = group.Wait()
	for i := range found {
		all, left = append(all, found[i]...), left+lefts[i]
	}
	return all, left, err
}

// judgement is the actor of some objects of a class, seen at the first.
type judgement struct {
	class  Class
	object *unstructured.Unstructured
	actor  Actor
}

func (f *Finder) judgements(ctx context.Context, g *graph.Graph, c *Class, most int) (all []*judgement, left int,
	err error) {
	for n, id := range c.Objects {
		if n == most {
			return all, left + len(c.Objects) - n, nil
		}
		t, _ := g.Type(id)
		ref := g.Ref(id)
		o, err := f.reader.GetLive(ctx, t, ref.Namespace, ref.Name)
		if ctx.Err() != nil {
			return all, 0, context.Cause(ctx)
		}
		if err != nil {
			left++
			continue
		}
		if o == nil || string(o.GetUID()) != ref.UID {
			continue
		}
		a, err := f.Of(ctx, o, c.Finalizer)
		if err != nil {
			return nil, 0, err
		}
		if len(all) == 0 && !a.ForThis {
			return []*judgement{{Class{c.Group, c.Kind, c.Finalizer, c.Objects[n:]}, o, a}}, left, nil
		}
		same := slices.IndexFunc(all, func(j *judgement) bool {
			return j.actor.Life == a.Life && slices.Equal(j.actor.Evidence, a.Evidence)
		})
		if same < 0 {
			same, all = len(all), append(all, &judgement{Class{c.Group, c.Kind, c.Finalizer, nil}, o, a})
		}
		all[same].class.Objects = append(all[same].class.Objects, id)
	}
	return all, left, nil
}
