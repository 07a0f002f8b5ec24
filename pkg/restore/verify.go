package restore

import (
	"context"
	"errors"
)

// ErrDeletedAgain is of an object that was created and is gone or being deleted again, or replaced,
// when it is looked at in the end.
var ErrDeletedAgain = errors.New(
	"it was created, and is gone or being deleted again; kubectl gc check says whether its owners exist")

// verify looks again at what was written.
func (r *performer) verify(ctx context.Context) {
	if r.opts.DryRun {
		return
	}
	at := map[int]target{}
	var targets []target
	for i, o := range r.results {
		if s := &r.plan.Steps[i]; o.done != nil && s.Verb != Rebind {
			at[i] = target{s.Type, s.Object.Namespace, s.Object.Name}
			targets = append(targets, at[i])
		}
	}
	found, err := look(ctx, r.client, targets)
	if err != nil {
		return // it was interrupted, which is said
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, t := range at {
		done := r.results[i].done
		switch now := found[t]; {
		case now.err != nil:
			done.Notes = append(done.Notes, "it could not be looked at again: "+now.err.Error())
		case (now.uid != done.UID || now.deleting) && r.plan.Steps[i].maker != "":
			done.Notes = append(done.Notes, r.plan.Steps[i].maker+" has deleted it again: it makes what is missing by itself")
		case now.uid != done.UID || now.deleting:
			r.results[i] = outcome{err: ErrDeletedAgain}
		}
	}
}
