package finalizers

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// outside is for an actor that nobody can see from here. Which it is, the object may say, as classes
// do: there may be a workload that is called like that.
func (e *Examiner) outside(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	field, called := controllerOf(b.Object)
	switch {
	case b.Reporter != nil:
		f.Remedy = phrase.Sentence(b.Name+" runs elsewhere, and what runs here does not do its work: "+
			"find out there whether it runs, and what it says") + b.OnceRunning()
		f.Commands = append(f.Commands, core.At(e.Ref(b.Reporter), core.Describe()).Safely("shows what is heard from there"))
		return f
	case called != "":
		f.Remedy = phrase.Sentence(fmt.Sprintf("check whether %s runs, in the cluster or outside: its %s names %s",
			b.Name, field, called)) + b.OnceRunning()
		if e.unused(b) {
			f.Remedy += " If it was uninstalled, remove the finalizer by hand: nothing is seen for which it would keep the object."
		}
	default:
		f.Remedy = phrase.Sentence(b.Name+" normally runs outside the cluster: not seeing it here means nothing") + " "
		if note := b.Known.Alive.Note; note != "" {
			f.Remedy += phrase.Sentence(note) + " "
		}
		if by := b.Known.Alive.ReportedBy; b.Unreported != "" && by != nil && len(by.Where) == 0 { // it is there that it runs
			f.Remedy += fmt.Sprintf("%s, which stands for where it runs, does not exist here: if that was removed, nobody there has access "+
				"any more, and the finalizer is to be removed by hand unless something here does that.", b.Unreported)
		} else {
			f.Remedy += phrase.Sentence("check there that it is running") + b.OnceRunning()
		}
		if none := unnamed(b); none != nil {
			f.Evidence = append(f.Evidence, namesNone(b, none)...)
			f.Remedy += fmt.Sprintf(" If no %s was ever made for it, because no provider runs for this cluster, remove the finalizer by hand.", none.Is)
		}
	}
	f.Commands = append(f.Commands, core.Describe().Safely("shows what its controller says of it"))
	if called == "" {
		return f
	}
	if w := e.leads(ctx, b.Object).Like(called, b.Object.GetKind()); w != nil {
		f.Evidence = append(f.Evidence, core.Observed(actor.ByItsName+actor.ReadWorkload(w).Says)...)
		f.Commands = append(f.Commands, e.log(w)...)
	}
	return f
}

// controllerOf is what an object calls its controller, and in which field, as a GatewayClass and an
// IngressClass do.
func controllerOf(o *unstructured.Unstructured) (field, name string) {
	for _, field := range []string{"controllerName", "controller"} {
		if name := status.Nested(o, "spec", field); name != "" {
			return "spec." + field, name
		}
	}
	return "", ""
}

// unnamed is what the object would name of what it stands for outside the cluster, where it names none;
// nil if it does, or if no pack says where.
func unnamed(b core.Responsible) *finalizer.External {
	if len(b.Known.External) == 0 || slices.ContainsFunc(b.Known.External,
		func(x finalizer.External) bool { return len(x.Names(b.Object.Object)) > 0 }) {
		return nil
	}
	return &b.Known.External[0]
}
