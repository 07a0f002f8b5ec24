package finalizers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// unseen is for an actor of which nobody knows whether it runs, or that is not found. Worked is the
// evidence that a program has worked on the object since its deletion.
func (e *Examiner) unseen(ctx context.Context, b core.Responsible, down core.Downtime, f core.Finding,
	worked []v1alpha1.Observation) core.Finding {
	lacks := e.needs.mayLack(ctx, b)
	f.Evidence = append(f.Evidence, lacks.seen...)
	f, lacks = e.byFinalizersName(ctx, b, f, lacks)
	f.Code = core.FinalizerActorUnknown
	if b.NotFound() && len(worked) == 0 && !e.otherwiseCalled(ctx, b) {
		f.Code = core.FinalizerActorNotFound
	}
	led, isDown := false, len(down.Repairs)+len(down.Steps) > 0
	switch {
	case isDown:
		f = e.remedied(ctx, b, down, f)
		if len(b.Scaled) > 0 {
			f.Sentence = unsure(b) + "; " + actor.ReadWorkload(b.Scaled[0]).Says
		}
	case b.RunsOutside():
		f = e.outside(ctx, b, f)
	default:
		f, led = e.unfound(ctx, b, f)
	}
	if len(worked) > 0 && !led && !isDown {
		f.Remedy = "Something has worked on the object since its deletion: find it, and look at what it says."
		if b.Who != "" {
			f.Remedy += fmt.Sprintf(" If that is %s, it runs under another name, or outside the cluster.", b.Name)
		}
		f.Remedy += b.OnceRunning()
	}
	if f.Code == core.FinalizerActorUnknown {
		f = e.mayKeep(ctx, b, lacking(b, e.unknown(ctx, b, f), lacks, worked), lacks)
		if silent := e.silent(ctx, b, f, worked); silent.Sentence != f.Sentence {
			f = e.inClosing(ctx, b, silent)
		}
	} else {
		f = e.withDefinition(ctx, b.Object, lacking(b, f, lacks, worked))
		if ns := b.Object.GetNamespace(); e.Closed(ctx, ns) {
			f.Remedy = f.Usual() + fmt.Sprintf(" If it ran there: it cannot be installed in namespace %s, which is being "+
				"deleted. Run it in another, or clean up and remove the finalizer by hand.", ns)
		}
	}
	f.Sentence = e.likeliest(ctx, b, f.Sentence)
	return e.behindItsNamespace(b, ofTemplate(b.Object, f))
}

// byFinalizersName adds what the name of a finalizer which no pack knows says: that another version
// of the program put it there, or that it may be there for another object.
func (e *Examiner) byFinalizersName(ctx context.Context, b core.Responsible, f core.Finding,
	lacks lacked) (core.Finding, lacked) {
	if b.IsKnown {
		return f, lacks
	}
	lacks.renamed = e.outdated(ctx, b.Object, b.Actor)
	namesake, look := e.namesake(b.Object, b.Finalizer)
	f.Evidence = slices.Concat(f.Evidence, lacks.renamed, namesake)
	if len(namesake) > 0 && lacks.what == "" {
		lacks.says = "finalizer " + b.Finalizer + strings.TrimPrefix(namesake[0].Says, "it")
		f.Commands = append(f.Commands, look...)
	}
	return f, lacks
}

// lacking puts what the actor may lack into the remedy.
func lacking(b core.Responsible, f core.Finding, lacks lacked, worked []v1alpha1.Observation) core.Finding {
	switch {
	case len(lacks.look) > 0: // what it has begun since the deletion
		f.Remedy = "Whoever removes the finalizer may need " + lacks.what + ": " + lacks.mend + " if so. " + f.Usual()
		f.Commands = slices.Concat(lacks.look, f.Commands)
	case lacks.what != "":
		f.Remedy = f.Usual() + lacks.also(saying{})
	case lacks.ownerless != "":
		f.Remedy = f.Usual() + " " + lacks.missed("whoever removes the finalizer")
	case len(lacks.renamed) > 0 && f.Code == core.FinalizerActorUnknown:
		f.Remedy = f.Usual() + " Other objects of the kind do not have this finalizer, so the version that runs may not " +
			"remove it. If its log does not name the object, remove it by hand."
	case lacks.other != "":
		f.Remedy = f.Usual() + lacks.others()
	}
	if none := nothingFor(b); none.remedy != "" && len(worked) > 0 && !b.RunsOutside() {
		f.Evidence, f.Remedy = append(f.Evidence, none.seen...), f.Usual()+none.remedy
	}
	if more := lacks.expired + lacks.done; more != "" {
		f.Remedy = f.Usual() + more
	}
	return f
}

// mayKeep says, where nobody knows who removes the finalizer, what may keep the object: the first that
// is seen is its sentence.
func (e *Examiner) mayKeep(ctx context.Context, b core.Responsible, f core.Finding, lacks lacked) core.Finding {
	say := func(clause string) {
		if f.Sentence == "" && clause != "" {
			f.Sentence = unsure(b) + "; " + clause
		}
	}
	say(lacks.says)
	by := once(append(e.awaited(b.Object, e.said(ctx, b.Object)), e.namers(ctx, b.Object, b.Finalizer)...))
	if len(by) > 0 {
		f.Remedy = f.Usual() + " " + phrase.Sentence("it may be kept for "+keepers(by))
		say(by[0].says())
		f = e.behindDependents(e.keptFor(f, by), by)
	} else if lacks.what == "" && lacks.ownerless == "" && len(b.Pauses) == 0 && !b.RunsOutside() {
		f = e.lookAgain(ctx, b, f)
	}
	f = e.behindDependents(f, lacks.waited)
	if len(lacks.renamed) > 0 {
		say(lacks.renamed[0].Says)
	}
	if s, seen := e.lately(b.Object); f.Sentence == "" && s.what != "" {
		say(s.sentence())
		f.Evidence = append(f.Evidence, seen...)
	}
	if stage := unfinished(b.Object); f.Sentence == "" && !b.RunsOutside() {
		if lacks.ownerless != "" {
			say("the object's owner " + lacks.ownerless + " does not exist")
		} else if stage.what != "" {
			say(stage.sentence())
			f.Remedy = phrase.Sentence("find out whether it waits for what "+stage.what+" says") + " " + f.Usual()
		}
	}
	for _, probe := range []func(context.Context, core.Responsible, core.Finding) core.Finding{e.atLostNode, e.unhooked,
		e.forOthers} {
		if f.Sentence == "" {
			f = probe(ctx, b, f)
		}
	}
	return f
}
