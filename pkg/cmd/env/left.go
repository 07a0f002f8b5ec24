package env

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// explainWithin bounds what a command that has waited in vain takes to say why.
const explainWithin = time.Minute

// ExplainLeft says why objects that were waited for are still there, as kubectl gc why does. Nothing of it is an error: the command has one.
func (e *Env) ExplainLeft(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, left []graph.Ref) {
	if len(left) == 0 {
		return
	}
	known, err := e.Known()
	if err != nil {
		return // packs that were named were read before the deletion
	}
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	d, err := diagnose.ExamineObjects(ctx, client, catalog, left, diagnose.Options{Known: known})
	if err != nil {
		fmt.Fprintf(e.ErrOut, "Warning: could not find out why they still exist: %s\n", render.Escape(err.Error()))
		return
	}
	if len(d.Stuck) == 0 {
		return
	}
	fmt.Fprintln(e.ErrOut)
	when, _ := render.ParseColor(e.Color)
	_ = render.Diagnosis(e.ErrOut, d, time.Now(), render.NewStyle(when, e.ErrOut, false)) // the command's own error follows
}

// WaitedFor are the objects of what was waited for.
func WaitedFor(left []act.Blocked) []graph.Ref {
	refs := make([]graph.Ref, len(left))
	for i, l := range left {
		refs[i] = l.Object
	}
	return refs
}
