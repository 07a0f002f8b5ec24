package ownership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Guarded returns a client that sends no DELETE with dryRun=All for an object that a link of packs
// protects, as a Usage of Crossplane does: the answer is known, and a webhook may record on the
// object that somebody tried to delete it. Nor does it send one where that is not known. The guards
// are listed once, by the reader. That a guard is still there, and the labels that webhooks select
// by, are read right before each DELETE.
func Guarded(client *cluster.Client, reader *cluster.Reader, definitions []*link.Definition) *cluster.Client {
	g := &guards{client: client, reader: reader, definitions: slices.DeleteFunc(slices.Clone(definitions),
		func(d *link.Definition) bool { return d.Deletion.Of != link.Guard })}
	return client.Guarded(g.check)
}

// guards are the objects that protect others.
type guards struct {
	client      *cluster.Client
	reader      *cluster.Reader
	definitions []*link.Definition

	mu     sync.Mutex
	listed bool
	// named are the guards by what they name, and served the definitions of whose sources the
	// server serves a kind, or may do so. unlisted is why they are not all known.
	named    map[guarded][]keeper
	served   []*link.Definition
	unlisted error
}

// guarded is an object as a guard names it; without a namespace it is in any.
type guarded struct{ group, kind, namespace, name string }

// keeper is a guard, and the link by which it keeps an object.
type keeper struct {
	guard      *unstructured.Unstructured
	definition *link.Definition
}

// writes is what a webhook writes about what the guard keeps on a dry run.
func (k keeper) writes() string {
	if w := k.definition.DryRunWrites; w != nil {
		return w.Writes
	}
	return ""
}

func (g *guards) check(ctx context.Context, t graph.Type, namespace, name string) error {
	g.once(ctx)
	for _, in := range []string{namespace, ""} {
		for _, by := range g.named[guarded{t.Group, t.Kind, in, name}] {
			if err := g.keeps(ctx, by); err != nil {
				return err
			}
		}
	}
	if err := g.labelled(ctx, t, namespace, name); err != nil {
		return err
	}
	if g.unlisted != nil {
		return &cluster.UnaskedError{Because: strings.ReplaceAll(g.unlisted.Error(), "\n", "; ")}
	}
	return nil
}

// keeps returns why no DELETE is to be sent for what a guard keeps; nil if the guard is gone.
func (g *guards) keeps(ctx context.Context, by keeper) error {
	guard := cluster.Located(by.guard)
	t, served := g.reader.Catalog().Kind(by.guard.GetAPIVersion(), by.guard.GetKind())
	if !served {
		return &cluster.UnaskedError{Because: guard + " could not be read: its kind is not served"}
	}
	now, err := g.client.GetMeta(ctx, t, by.guard.GetNamespace(), by.guard.GetName())
	switch {
	case cluster.IsAbsent(err, t, by.guard.GetName()), err == nil && now.UID != string(by.guard.GetUID()):
		return nil
	case err != nil:
		return &cluster.UnaskedError{Because: guard + " could not be read: " + err.Error()}
	}
	return &cluster.UnaskedError{Refused: true, Guard: guard, Because: guard + " keeps it", Writes: by.writes()}
}

// labelled returns why no DELETE is to be sent for an object, by the labels that it has now.
func (g *guards) labelled(ctx context.Context, t graph.Type, namespace, name string) error {
	writing := slices.DeleteFunc(slices.Clone(g.served), func(d *link.Definition) bool { return d.DryRunWrites == nil })
	if len(writing) == 0 {
		return nil
	}
	o, err := g.client.GetObjectMeta(ctx, t, namespace, name)
	switch {
	case cluster.IsAbsent(err, t, name):
		return nil
	case err != nil:
		return &cluster.UnaskedError{Because: "its labels could not be read: " + err.Error()}
	}
	for _, d := range writing {
		label := d.DryRunWrites.Label
		if _, labelled := o.GetLabels()[label]; labelled {
			return &cluster.UnaskedError{Refused: true, Because: "the label " + label + " says that something keeps it",
				Writes: d.DryRunWrites.Writes}
		}
	}
	return nil
}

// once lists the guards, and again if the context of the list has ended before it.
func (g *guards) once(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.listed {
		g.list(ctx)
		g.listed = ctx.Err() == nil
	}
}

// list lists the guards. Of one that names what it keeps by labels the kinds are all that is known.
func (g *guards) list(ctx context.Context) {
	g.named, g.served, g.unlisted = map[guarded][]keeper{}, nil, nil
	for _, d := range g.definitions {
		sources, served, err := Sources(ctx, g.reader, d)
		if served || err != nil {
			g.served = append(g.served, d)
		}
		g.unlisted = errors.Join(g.unlisted, err)
		for _, o := range sources {
			ends, members, _ := d.References(o.Object) // what could be understood comes with an error
			guard := cluster.Located(o)
			for _, n := range ends {
				key := guarded{n.Group, n.Kind, n.Namespace, n.Name}
				g.named[key] = append(g.named[key], keeper{o, d})
			}
			if len(members) > 0 {
				g.unlisted = errors.Join(g.unlisted, fmt.Errorf("%s keeps what labels select", guard))
			}
		}
	}
}

// Sources returns the objects that can be the sources of a link, and whether the server serves a
// kind of them. The error is for what could not be listed, or is perhaps served and not shown.
func Sources(ctx context.Context, reader *cluster.Reader, d *link.Definition) (all []*unstructured.Unstructured,
	served bool, err error) {
	for _, r := range reader.Catalog().Resources {
		if !d.From.Matches(r.Group, r.Kind, r.Categories) {
			continue
		}
		list, unlisted := reader.ListObjects(ctx, r.GroupResource(), "", cluster.Selection{})
		all, served, err = append(all, list...), true, errors.Join(err, unlisted)
	}
	for _, gap := range reader.Catalog().Gaps {
		for _, kind := range d.From.Kinds {
			if group, _, _ := strings.Cut(string(kind), "/"); group == gap.Group {
				return all, served, errors.Join(err, fmt.Errorf("discovery of %s failed: %s", gap.Group, gap.Message))
			}
		}
	}
	return all, served, err
}
