package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Archive is a file in which all that a run deletes or changes is saved before its first write. It
// must not exist.
type Archive struct {
	File string
	// Head returns the plan as it is printed, which the file begins with.
	Head func(*Proposal) *v1alpha1.Plan
	// OnSaved, if not nil, is called with what was saved.
	OnSaved func(*archive.Saved)
}

// hintArchive is what to do about an object that is left alone because the archive does not have it
// as it is.
const hintArchive = "run the command again with another archive file"

// save writes the archive of a plan that was agreed to, if there is to be one. With an error
// nothing is written to the server and there is no file.
func (p *Planned) save(ctx context.Context) error {
	a := p.request.Archive
	if a == nil {
		return nil
	}
	saved, err := archive.Save(ctx, p.loop.client, a.File, archive.OfPlan(p.Plan), a.Head(p.Proposal))
	if err != nil {
		return archive.NotSaved(ctx, err, "nothing was deleted", archive.OmitArchive)
	}
	p.loop.saved = saved
	if a.OnSaved != nil {
		a.OnSaved(saved)
	}
	return nil
}

// agree is asked about a plan that has grown. What is not in the archive is left alone, whoever
// would agree to it.
func (p *Planned) agree(ctx context.Context, proposal *Proposal) error {
	grown := slices.Concat(proposal.Growth.Deleted, proposal.Growth.Written)
	unsaved := slices.ContainsFunc(grown, func(id graph.ID) bool {
		return p.loop.saved != nil && !p.loop.saved.Has(proposal.Graph.Ref(id).UID)
	})
	switch {
	case unsaved:
		p.leftAlone = append(p.leftAlone, proposal.Graph.Refs(grown)...)
		return ErrOnlyAgreed
	case p.request.Agree == nil:
		return &GrownError{proposal}
	}
	return p.request.Agree(ctx, proposal)
}

// leftAloneError names what is left because the archive does not have it; nil if there is nothing.
func (p *Planned) leftAloneError() error {
	if len(p.leftAlone) == 0 {
		return nil
	}
	names := phrase.Words(p.leftAlone, graph.Ref.Located)
	return answer.Refuse(
		answer.WithHint(fmt.Errorf("not deleted or changed, because the plan has grown and the archive does not have it: %s",
			phrase.FirstFew(names, phrase.MaxNamed)), hintArchive))
}

// covered returns why a write must not be sent for the sake of the archive, if there is one: it
// does not have the object or, of a write after which the object can be gone, has it as it was
// before somebody changed it.
func (p *pass) covered(ctx context.Context, verb plan.Verb, id graph.ID) error {
	saved, ref, version := p.loop.saved, p.graph.Ref(id), p.version(id)
	if saved == nil {
		return nil
	}
	ends := verb == plan.VerbDelete || verb == plan.VerbRemoveFinalizer
	if saved.Has(ref.UID) && (!ends || p.loop.isOwn(ref.UID, version)) {
		return nil
	}
	err := saved.Covers(ctx, p.client, p.object(id).Type, ref, version)
	if errors.Is(err, archive.ErrMissing) || errors.Is(err, archive.ErrChanged) {
		return answer.Refuse(answer.WithHint(err, hintArchive))
	}
	return err
}

// wrote records the version of an object that a write of the loop has made.
func (l *Loop) wrote(uid, version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own[uid] = version
}

// isOwn reports whether a version of an object was made by the loop, so that nobody else has
// changed the object since.
func (l *Loop) isOwn(uid, version string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return version != "" && l.own[uid] == version
}
