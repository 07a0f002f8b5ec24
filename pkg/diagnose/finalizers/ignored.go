package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// ignored returns why an actor that is alive will not remove the finalizer: it may not, or it
// ignores the object. The last finding has the command that removes it by hand. Where there is none,
// unsure says what is not known of its rights.
func (e *Examiner) ignored(ctx context.Context, b core.Responsible, f core.Finding) (all []core.Finding,
	unsure []v1alpha1.Observation) {
	if b.IsKnown && b.Known.Retired != "" {
		return ordered(b, []core.Finding{e.retired(b, f)}), nil
	}
	may := e.Actors.Forbidden(ctx, b.Object, b.Actor)
	if may.Concluded {
		all = append(all, e.forbidden(ctx, b, f, may))
	}
	for _, probe := range []func(context.Context, core.Responsible, core.Finding) []core.Finding{e.paused, e.notWatching,
		e.untaken, e.notLeading} {
		all = append(all, probe(ctx, b, f)...)
	}
	return ordered(b, all), may.Evidence
}

// ordered gives the last of findings the command that removes the finalizer by hand.
func ordered(b core.Responsible, all []core.Finding) []core.Finding {
	if n := len(all); n > 0 {
		all[n-1].Commands = b.Ordered(all[n-1].Commands)
	}
	return all
}

// retired is for an actor of which no version of today removes the finalizer.
func (e *Examiner) retired(b core.Responsible, f core.Finding) core.Finding {
	f.Code = core.ActorNotWatching
	f.Sentence = fmt.Sprintf("%s is alive, and has not removed this finalizer since %s", b.Name, b.Known.Retired)
	f.Remedy = phrase.Sentence("waiting does not help unless an older version runs: remove the finalizer by hand") + " " +
		b.Loss()
	for _, w := range b.Workloads[:min(len(b.Workloads), 1)] {
		f.Commands = append(f.Commands, core.At(e.Ref(w), core.Describe()).Safely("shows which version runs"))
	}
	return f
}

// paused is for an actor that ignores an object that says so.
func (e *Examiner) paused(_ context.Context, b core.Responsible, f core.Finding) []core.Finding {
	return e.pauses(b, f, false)
}

// pauses are those that the actor heeds, or those of which that is a guess.
func (e *Examiner) pauses(b core.Responsible, f core.Finding, guessed bool) []core.Finding {
	var all []core.Finding
	for _, p := range b.Pauses {
		if p.Custom != guessed {
			continue
		}
		g := f
		g.Code, g.Args = core.ActorPaused, []string{"{then}", b.OnceRunning() + moved(p)}
		if guessed {
			g.Sentence = fmt.Sprintf("%s is alive, and may ignore the object: %s", b.Name, p.Says(b.Object))
		}
		if guessed {
			g.Remedy = fmt.Sprintf("If %s is not meant to ignore it, end the pause, and let it finish.", b.Name) +
				b.OnceRunning()
		}
		g.Evidence = append([]v1alpha1.Observation{p.Observation(b.Object)}, f.Evidence...)
		g.Commands = []core.Step{e.resume(b, p)}
		all = append(all, g)
	}
	return all
}

// forbidden is for an actor that lost its rights. Where the namespace is being deleted, the
// RoleBinding that it had there is often gone before the object.
func (e *Examiner) forbidden(ctx context.Context, b core.Responsible, f core.Finding, of actor.Forbidden) core.Finding {
	f.Code = core.ActorForbidden
	f.Evidence = append(slices.Clone(f.Evidence), of.Evidence...)
	then := b.OnceRunning()
	if of.Role != "" {
		then = " One that would do: " + phrase.Command(binding(of, b.Object, e.Closed(ctx, b.Object.GetNamespace()))...) + then
	}
	account := of.Account.Namespace + "/" + of.Account.Name
	f.Args = []string{"{account}", account, "{resource}", of.Resource, "{then}", then}
	if ns := b.Object.GetNamespace(); len(of.Placed) > 0 && !e.Closed(ctx, ns) {
		f.Remedy = fmt.Sprintf("ServiceAccount %s may write %s in namespace %s, and not in namespace %s, where the object is. "+
			"Give it the same there with a RoleBinding, have %s watch that namespace as well, and let it finish.",
			account, of.Resource, of.Placed[0].Namespace, ns, b.Name) + then
	}
	if ns := b.Object.GetNamespace(); e.Closed(ctx, ns) {
		f.Remedy = fmt.Sprintf(
			"Let ServiceAccount %s update and patch %s again, and let %s finish. Nothing can be created in namespace %s, "+
				"which is being deleted: it takes a ClusterRoleBinding.", account, of.Resource, b.Name, ns) + then
	}
	if of.Lacking != "" {
		f.Remedy = fmt.Sprintf("Add the verbs update and patch of %s to %s, and let %s finish.", of.Resource, of.Lacking,
			b.Name) + b.OnceRunning()
	}
	ask := []string{"kubectl", "auth", "can-i", "patch", of.Resource, "--as=" + of.Account.User()}
	if ns := b.Object.GetNamespace(); ns != "" {
		ask = append(ask, "-n", ns)
	}
	f.Commands = []core.Step{core.FixedCommand(
		ask...).Safely("asks the server whether it may: yes, once the binding is there")}
	if add, ok := adding(of, b.Object); ok {
		f.Commands = append(f.Commands,
			add.Doing("lets it remove the finalizer: whatever installs the role has to grant it as well").Risking(
				b.RiskOnceRunning()))
	}
	return f
}

// binding is the command that gives an actor a role: in the namespace of the object alone, if it
// has its rights by namespace and that is not closed.
func binding(of actor.Forbidden, o *unstructured.Unstructured, closed bool) []string {
	kind, in := "clusterrolebinding", []string(nil)
	if len(of.Placed) > 0 && !closed {
		kind, in = "rolebinding", []string{"-n", o.GetNamespace()}
	}
	return append([]string{"kubectl", "create", kind, of.Account.Name + "-" + of.Role, "--clusterrole=" + of.Role,
		"--serviceaccount=" + of.Account.Namespace + ":" + of.Account.Name}, in...)
}

// alsoForbidden adds to a finding about an actor that does not run that it may not write the object
// either: once it is started, it lacks that.
func (e *Examiner) alsoForbidden(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	may := e.Actors.Forbidden(ctx, b.Object, b.Actor)
	if !may.Concluded {
		return f
	}
	lacks := e.forbidden(ctx, b, f, may)
	f.Evidence = lacks.Evidence
	f.Remedy = f.Usual() + fmt.Sprintf(" It may not remove the finalizer then either: give ServiceAccount %s/%s "+
		"the right to update and patch %s as well.", may.Account.Namespace, may.Account.Name, may.Resource)
	f.Commands = append(f.Commands, lacks.Commands...)
	return f
}

// adding is the command that adds the verbs to a role that lacks them. A Role in a namespace that
// is being deleted can still be changed.
func adding(of actor.Forbidden, o *unstructured.Unstructured) (core.Step, bool) {
	kind, name, _ := strings.Cut(of.Lacking, " ")
	if name == "" {
		return core.Step{}, false
	}
	resource, group, _ := strings.Cut(of.Resource, ".")
	args := []string{"kubectl", "patch", strings.ToLower(kind) + "/" + name, "--type=json", "-p",
		fmt.Sprintf(`[{"op":"add","path":"/rules/-","value":{"apiGroups":[%q],"resources":[%q],"verbs":["update","patch"]}}]`,
			group, resource)}
	if kind == "Role" {
		args = append(args, "-n", o.GetNamespace())
	}
	return core.FixedCommand(args...), true
}

// notWatching is for an actor that was started to watch other objects: those of other namespaces, or
// with other labels.
func (e *Examiner) notWatching(ctx context.Context, b core.Responsible, f core.Finding) []core.Finding {
	all := b.NotWatching(b.Object)
	if len(all) == 0 {
		return nil
	}
	var own []v1alpha1.Observation
	for _, s := range all[:min(len(all), phrase.MaxNamed)] {
		own = append(own, s.Observation(), s.Missed(b.Object))
	}
	s := all[0]
	ns, name := b.Object.GetNamespace(), cluster.Located(s.Workload)
	f.Code, f.Evidence = core.ActorNotWatching, append(own, f.Evidence...)
	f.Args = []string{"{workload}", name, "{namespace}", ns, "{then}", b.OnceRunning()}
	switch {
	case s.Selector:
		f.Remedy = fmt.Sprintf("Start one again that watches such objects, or give the object a label that %s watches, "+
			"and let it finish.", name) + b.OnceRunning()
		f.Commands = labelled(b, s)
	case s.Variable:
		set := core.At(e.Ref(s.Workload), core.Command("kubectl", "set", "env", "OBJECT", s.Setting+"="+s.Value+","+ns))
		f.Commands = []core.Step{set.Doing("starts it again so that it watches " + ns +
			" as well").Risking(b.RiskOnceRunning())}
	}
	if !s.Selector && e.Closed(ctx, ns) {
		f.Remedy = fmt.Sprintf("One that worked on namespace %s may have gone with what is deleted there, and %s works on another. Have one "+
			"work on it again, if that takes nothing that has to be made in it; otherwise clean up by hand, and remove the finalizer.",
			ns, name) + b.OnceRunning()
	}
	if len(f.Commands) == 0 { // what removes the finalizer is no first step
		f.Commands = []core.Step{core.At(e.Ref(s.Workload), core.Describe()).Safely("shows what it watches")}
	}
	return []core.Finding{f}
}

// labelled is the command that gives the object the label by which a workload selects what it works
// on; none if that takes more than one.
func labelled(b core.Responsible, s actor.Scope) []core.Step {
	label, one := s.Label()
	if !s.Selector || !one {
		return nil
	}
	return []core.Step{core.Command("kubectl", "label", "OBJECT", label, "--overwrite").
		Doing("has " + cluster.Located(s.Workload) + " work on it").Risking(b.RiskOnceRunning())}
}

// untaken is for an actor that leaves an object of another class to somebody else.
func (e *Examiner) untaken(ctx context.Context, b core.Responsible, f core.Finding) []core.Finding {
	var all []core.Finding
	for _, u := range b.Untaken {
		g := f
		g.Code, g.Evidence = core.ActorNotWatching, append([]v1alpha1.Observation{u.Evidence}, f.Evidence...)
		g.Commands = []core.Step{core.Describe().Safely("shows what it names, and what is said of it")}
		if m := u.Missing; m != nil {
			name := core.RefTo(m.Type, m.Namespace, m.Name).Located()
			g.Sentence = fmt.Sprintf("%s is alive, and leaves the object alone, whose %s does not exist", b.Name, name)
			g.Remedy = fmt.Sprintf("Create %s again, as it was (%s), and let %s finish.", name, u.Wants, b.Name) +
				b.OnceRunning()
		} else {
			by := cluster.Located(u.By)
			g.Sentence = fmt.Sprintf("%s is alive, and leaves the object alone, by what %s says", b.Name, by)
			g.Remedy = fmt.Sprintf("Find out whether whoever %s names is there, and does it; %s takes it only if %s.", by,
				b.Name, u.Wants)
			if u.By != b.Object {
				g.Commands = append(g.Commands, core.At(e.Ref(u.By), core.Describe()).Safely("shows what it says"))
			}
		}
		if u.Guessed() {
			g.Sentence = fmt.Sprintf("%s is alive, and leaves the object alone in versions before %s", b.Name, u.Until)
		}
		g.Remedy = cmp.Or(u.Remedy, g.Remedy)
		all = append(all, g)
	}
	return all
}

// notLeading is for an actor whose pods are ready, of which none leads.
func (e *Examiner) notLeading(_ context.Context, b core.Responsible, f core.Finding) []core.Finding {
	if len(b.Unled) == 0 {
		return nil
	}
	var own []v1alpha1.Observation
	for _, u := range b.Unled {
		own = append(own, u.Evidence)
	}
	u := b.Unled[0]
	workload := cluster.Located(u.Workload)
	f.Code, f.Evidence = core.ActorNotLeading, append(own, f.Evidence...)
	f.Args = []string{"{pod}", cluster.Located(u.Pod), "{lease}", cluster.Located(u.Lease), "{workload}", workload,
		"{then}", b.OnceRunning()}
	f.Commands = []core.Step{
		core.At(e.Ref(u.Pod), core.Command("kubectl", "logs", "OBJECT", "--all-containers")).
			Safely("shows why it no longer leads"),
		core.At(e.Ref(u.Workload), core.Command("kubectl", "rollout", "restart", "OBJECT")).
			Doing("starts its pods again, one of which leads then" + b.Then()).Risking(b.RiskOnceRunning()).Disturbing(),
	}
	return []core.Finding{f}
}

// alsoPaused adds to a finding about an actor that is not known to be alive that it would ignore
// the object.
func (e *Examiner) alsoPaused(b core.Responsible, f core.Finding) core.Finding {
	for _, p := range b.Pauses {
		f.Evidence = append(f.Evidence, p.Observation(b.Object))
		f.Commands = append(f.Commands, e.resume(b, p))
	}
	for _, u := range b.Untaken {
		f.Evidence = append(f.Evidence, u.Evidence)
	}
	return f
}

// resume is the command that ends a pause.
func (e *Examiner) resume(b core.Responsible, p actor.Pause) core.Step {
	risk := b.RiskOnceRunning()
	switch {
	case p.Moved:
		risk = finalizer.DataLoss
	case risk == finalizer.RiskNone && b.Known.Consequential():
		risk = "" // somebody may have paused it to keep what the actor deletes
	}
	return core.At(e.Ref(p.Object), core.Command(append([]string{"kubectl"}, p.Resume()...)...)).
		Doing("has " + b.Name + " work on it again" + b.Then()).Risking(risk).Disturbing()
}

// moved warns of what a pause of Cluster API can mean.
func moved(p actor.Pause) string {
	if !p.Moved {
		return ""
	}
	return " " + phrase.Sentence(
		"clusterctl move pauses the Cluster that it moves: make sure first that no other management cluster owns its machines now, since this one would delete them")
}
