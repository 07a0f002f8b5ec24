package env

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// explainWithin bounds what a command that has waited in vain takes to say why.
const explainWithin = time.Minute

// ExplainLeft says why objects that were waited for are still there, as kubectl gc why does, and
// returns that. Nothing of it is an error: the command has one.
func (e *Env) ExplainLeft(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog,
	left []graph.Ref) []v1alpha1.Stuck {
	if len(left) == 0 {
		return nil
	}
	known, err := e.Known()
	if err != nil {
		return nil // packs that were named were read before the deletion
	}
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	d, err := diagnose.ExamineObjects(ctx, client, catalog, left, diagnose.Options{Known: known})
	if err != nil {
		render.Warn(e.ErrOut, "could not find out why they still exist: %s", render.Escape(err.Error()))
		return nil
	}
	if len(d.Stuck) == 0 {
		return nil
	}
	e.Pasted(d.Stuck)
	fmt.Fprintln(e.ErrOut)
	when, _ := render.ParseColor(e.Color)
	// the command's own error follows
	_ = render.Diagnosis(e.ErrOut, d, e.Now(), render.NewStyle(when, e.ErrOut, false))
	return d.Stuck
}

// WaitedFor are the objects that were waited for: those that are being deleted, or all if none is.
// The others wait for these.
func WaitedFor(left []act.Blocked) []graph.Ref {
	deleting := slices.ContainsFunc(left, func(l act.Blocked) bool { return l.Deleting })
	var refs []graph.Ref
	for _, l := range left {
		if l.Deleting || !deleting {
			refs = append(refs, l.Object)
		}
	}
	return refs
}
