package finalizers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

const (
	// finishing is for how long an object may go without a change before its actor is no longer
	// taken to be about to finish.
	finishing = 10 * time.Minute
	// moment is for how long nothing is said of that: objects that were deleted one after the other
	// are told alike.
	moment = 2 * time.Minute
	// maxLogs is of how many workloads of an actor the logs are shown, and longest how far back.
	maxLogs = 2
	longest = 24 * time.Hour
)

// busy is for an actor that is at work, as far as anybody can see. It lives, which does not mean
// that it is about to finish: for how long the object has not changed is said, and where to look.
// What the object says comes first, then what its actor may lack, and then what refers to it.
func (e *Examiner) busy(b core.Responsible, f core.Finding, says saying, lacks lacked, by []namer) core.Finding {
	f.Code = core.FinalizerActorAlive
	quiet := e.quiet(b)
	missed, again := e.missed(b, b.Workloads), []core.Step(nil)
	f.Evidence = append(f.Evidence, missed.seen...)
	old, seen := older(b.Object), []v1alpha1.Observation(nil)
	if old.what == "" && says.what == "" {
		if old, seen = e.lately(b.Object); old.what == "" {
			old = guarded(b.Object)
		}
	}
	f.Evidence = append(f.Evidence, seen...)
	if quiet < moment {
		f.Observe("it was changed or deleted less than %s ago", phrase.Ago(moment))
	} else {
		f.Observe("by its conditions and managedFields, nothing has changed on it for %s", phrase.Ago(quiet))
	}
	f.Evidence = append(f.Evidence, lacks.renamed...)
	none := nothingFor(b)
	if b.Actor.Idles == "" && says.what == "" && quiet < finishing && !neverMade.MatchString(old.message) {
		none = nothing{}
	}
	stage := unfinished(b.Object)
	switch {
	case says.what != "":
		by = once(append(e.awaited(b.Object, says), by...))
		f = e.behindDependents(f, by)
		only := len(b.Object.GetFinalizers()) == 1 && none.remedy == ""
		f.Sentence, f.Remedy = says.sentence(), says.remedy(b.Name, only)+lacks.also(says)+b.OnceRunning()
	case b.UsersUnread != nil:
		f.Remedy = phrase.Sentence(b.Name+" is alive, and may wait for what uses the object: look for that, or run the "+
			"command as a user who may list it") + b.OnceRunning()
	case lacks.what != "" && !(lacks.mutual && slices.ContainsFunc(by, namer.goesFirst)):
		if lacks.says != "" {
			f.Sentence = b.Name + " is alive, and may not get any further: " + lacks.says
		}
		f.Remedy = phrase.Sentence(b.Name+" is alive, and may need "+lacks.what+": find out by what it logs and reports, and "+
			lacks.mend+" if so") + b.OnceRunning()
	case len(lacks.renamed) > 0:
		f.Remedy = phrase.Sentence(b.Name+" is alive. Other objects of the kind do not have this finalizer, so the version that "+
			"runs may not remove it: find out by its log, and remove it by hand if so") + b.OnceRunning()
	case len(by) > 0:
		f.Sentence = b.Name + " is alive, and may keep the object: " + by[0].says()
		f.Remedy = phrase.Sentence(b.Name+" is alive, and may keep it for "+keepers(by)) + b.OnceRunning()
		f = e.behindDependents(f, by)
	case lacks.ownerless != "":
		f.Sentence = b.Name + " is alive, and may not get any further: the object's owner " + lacks.ownerless +
			" does not exist"
		f.Remedy = phrase.Sentence(b.Name+" is alive") + " " + lacks.missed(b.Name) +
			" Find out by what it logs and reports." + b.OnceRunning()
	case old.what != "":
		f.Sentence, f.Remedy = old.sentence(), old.remedy(b.Name, false)+b.OnceRunning()
	case e.unused(b):
		f.Remedy = phrase.Sentence(b.Name+" is alive, and nothing is seen for which it would keep the object: find out by its "+
			"log why it does not remove the finalizer. A restart has it look at everything again") + b.OnceRunning()
	case e.Actors.Leaderless(b.Actor):
		f.Remedy = phrase.Sentence(b.Name+" is alive by its pods, and by its Lease none of them leads, unless leader election "+
			"was switched off: find out by its log whether it works") + b.OnceRunning()
	case quiet >= finishing:
		f.Sentence = cmp.Or(f.Sentence, stage.sentence())
		f.Remedy = phrase.Sentence(b.Name+" is alive, and does not seem to be about to finish: find out what it waits for "+
			"by what it logs and reports") + lacks.others() + missed.remedy + b.OnceRunning()
		again = missed.steps
	case b.Actor.Idles != "":
		f.Remedy = phrase.Sentence(b.Name + " is alive")
	case stage.what != "":
		f.Sentence, f.Remedy = stage.sentence(), stage.remedy(b.Name, false)+b.OnceRunning()
	}
	f = e.behindDependents(f, lacks.waited)
	if none.remedy != "" {
		f.Evidence, f.Remedy = append(f.Evidence, none.seen...), f.Remedy+none.remedy
	}
	if more := lacks.expired + lacks.done; more != "" {
		f.Remedy = f.Usual() + more
	}
	show := core.Describe().Safely("shows what its controller says of it")
	f.Commands = slices.Concat([]core.Step{show}, lacks.look, e.logs(b), again)
	f = e.behindItsNamespace(b, e.keptFor(f, by))
	f.Commands = b.Ordered(f.Commands)
	return f
}

// unused says that nothing is seen for which a guard would keep its object: no object that uses it,
// and no dependent that has to be gone first.
func (e *Examiner) unused(b core.Responsible) bool {
	if !b.IsKnown || b.Known.Polarity != finalizer.Guard || len(b.Known.UsedBy)+len(b.Known.WaitsFor) == 0 ||
		len(b.Users) > 0 || b.UsersUnread != nil || len(b.Known.WaitsFor) > 0 && len(e.Gaps) > 0 {
		return false
	}
	id, listed := e.Graph.Lookup(string(b.Object.GetUID()))
	if !listed {
		return len(b.Known.WaitsFor) == 0
	}
	for edge := range e.Graph.Dependents(id) {
		if ref := e.Graph.Ref(edge.Dependent); b.Known.Awaits(ref.Group(), ref.Kind) {
			return false
		}
	}
	return true
}

// quiet is for how long an object has not changed since its deletion.
func (e *Examiner) quiet(b core.Responsible) time.Duration {
	last := status.LastChange(b.Object).At
	if deleted := b.Object.GetDeletionTimestamp(); deleted != nil && deleted.After(last) {
		last = deleted.Time
	}
	return e.Now.Sub(last)
}

// logs are the commands that show what the workloads of an actor say about an object. Of several
// pods kubectl shows any one, which may not be the one that works, so that all are asked for.
func (e *Examiner) logs(b core.Responsible) []core.Step {
	var steps []core.Step
	for _, w := range b.Workloads {
		if len(steps) == maxLogs || actor.ReadWorkload(w).Life != actor.Alive {
			continue
		}
		back := longest
		if deleted := b.Object.GetDeletionTimestamp(); deleted != nil {
			back = min(longest, (max(0, e.Now.Sub(deleted.Time)) + time.Minute).Truncate(time.Minute))
		}
		of := []string{strings.ToLower(w.GetKind()) + "/" + w.GetName()}
		replicas, said, _ := unstructured.NestedInt64(w.Object, "spec", "replicas")
		if selector, err := actor.PodSelector(w); err == nil && selector != "" &&
			(w.GetKind() == "DaemonSet" || said && replicas > 1) {
			of = []string{"-l", selector, "--prefix", "--tail=-1"}
		}
		logs := phrase.Command(slices.Concat([]string{"kubectl", "logs", "-n", w.GetNamespace()}, of,
			[]string{"--all-containers", fmt.Sprintf("--since=%dm", int(back.Minutes()))})...)
		grep := []string{"grep", b.Object.GetName()}
		if strings.HasPrefix(grep[1], "-") {
			grep = []string{"grep", "-e", grep[1]}
		}
		line := logs + " | " + phrase.Command(grep...)
		steps = append(steps, core.Step{Write: func(v1alpha1.ObjectRef) string { return line }}.
			Safely("shows what "+b.Name+" says about it"))
	}
	return steps
}
