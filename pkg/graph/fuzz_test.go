package graph_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// FuzzBuild reads bytes as listings of objects that refer to each other in any way, and holds the
// graph against what is true of every graph.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<11 {
			return // the checks are quadratic
		}
		p := program(data)
		roots, depth, mask := p.next(256), p.next(8), p.next(256)
		g := p.build()
		checkGraph(t, g)
		if g.Len() == 0 {
			return
		}
		hidden := make([]bool, g.Len())
		for i := range hidden {
			hidden[i] = mask>>(i%8)&1 == 1
		}
		some := []graph.ID{graph.ID(roots % g.Len()), graph.ID(roots / 2 % g.Len())}
		show := func(id graph.ID) bool { return !hidden[id] }
		for _, owners := range []bool{false, true} {
			checkShown(t, g, some, graph.TreeOptions{Depth: -1, Owners: owners, Show: show}, hidden)
			checkNothingCut(t, g, some, graph.TreeOptions{Depth: -1, Owners: owners, Show: show}, hidden)
			checkDepth(t, g, some, graph.TreeOptions{Depth: depth, Owners: owners, Show: show})
		}
	})
}

// program is the input of the fuzz test, read byte by byte; at its end come zeros.
type program []byte

func (p *program) next(n int) int {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return int(b) % n
}

// build runs the program: what it does next is in the next byte.
func (p *program) build() *graph.Graph {
	b := graph.NewBuilder()
	typ := func() graph.Type { return served[p.next(len(served))] }
	current := b.Listing(typ(), "")
	for len(*p) > 0 {
		switch p.next(8) {
		case 0:
			current = b.Listing(typ(), p.namespace())
		case 1:
			b.Serve(typ(), "v1beta1")
		case 2:
			current.Complete()
		case 3:
			current.Discard()
		default:
			current.Add(p.object(typ))
		}
	}
	return b.Build()
}

func (p *program) object(typ func() graph.Type) graph.Object {
	o := graph.Object{Namespace: p.namespace(), Name: p.name(), UID: p.uid()}
	flags := p.next(256)
	o.Selected = flags&1 != 0
	o.DeletionTimestamp, o.CreationTimestamp = int64(flags>>1&1), int64(flags>>2&3)
	if flags&16 != 0 {
		o.Finalizers = []string{p.name(), p.name()}
	}
	for range flags >> 5 & 3 {
		t := typ()
		r := graph.OwnerReference{APIVersion: t.APIVersion(), Kind: t.Kind, Name: p.name(), UID: p.uid()}
		switch how := p.next(32); {
		case how&24 == 8:
			r.APIVersion = []string{"", "/", "v2", "apps/v1/v1"}[how&3]
		case how&24 == 16:
			r.Kind = []string{"", "pod", "PodList", "Gadget"}[how&3]
		default:
			r.Controller, r.Block = how&1 != 0, how&2 != 0
		}
		o.Owners = append(o.Owners, r)
	}
	return o
}

func (p *program) namespace() string { return []string{"", "a", "b", "c"}[p.next(4)] }

func (p *program) name() string { return fmt.Sprintf("n%d", p.next(6)) }

// uid is at times none, which an odd server gives its objects.
func (p *program) uid() string {
	if n := p.next(24); n > 0 {
		return fmt.Sprintf("u%d", n)
	}
	return ""
}
