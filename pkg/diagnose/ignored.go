package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// ignored returns why an actor that is alive will not remove the finalizer: it may not, or it ignores the object. The last finding has the command that
// removes it by hand.
func (e *finalizers) ignored(ctx context.Context, b blame, f finding) []finding {
	var all []finding
	forbidden := e.actors.Forbidden(ctx, b.o, b.Actor)
	if forbidden.Concluded {
		all = append(all, e.forbidden(ctx, b, f, forbidden))
	}
	for _, p := range e.actors.Paused(ctx, b.o, b.Actor) {
		g := f
		g.code, g.remedy = ActorPaused, "End the pause, and let "+b.who+" finish."+b.honoured()+moved(p)
		if p.Custom {
			g.remedy = fmt.Sprintf("If %s is not meant to ignore it, end the pause, and let it finish.", b.who) + b.honoured()
		}
		g.evidence = append([]v1alpha1.Observation{p.Observation(b.o)}, f.evidence...)
		g.commands = []step{e.resume(b, p)}
		all = append(all, g)
	}
	if scope, ok := b.NotWatching(b.o.GetNamespace()); ok {
		all = append(all, e.notWatching(b, f, scope))
	}
	if n := len(all); n > 0 {
		all[n-1].commands = b.ordered(all[n-1].commands)
	}
	return all
}

// forbidden is for an actor that lost its rights. Where the namespace is being deleted, the RoleBinding that it had there is often gone before the object.
func (e *finalizers) forbidden(ctx context.Context, b blame, f finding, of actor.Forbidden) finding {
	f.code = ActorForbidden
	f.evidence = append(slices.Clone(f.evidence), of.Evidence...)
	f.remedy = fmt.Sprintf("Restore the binding that lets ServiceAccount %s/%s update and patch %s, and let %s finish.", of.Account.Namespace, of.Account.Name, of.Resource, b.who)
	if ns := b.o.GetNamespace(); e.closed(ctx, ns) {
		f.remedy = fmt.Sprintf("Let ServiceAccount %s/%s update and patch %s again, and let %s finish. Nothing can be created in namespace %s, which is being deleted: it takes a ClusterRoleBinding.", of.Account.Namespace, of.Account.Name, of.Resource, b.who, ns)
	}
	if of.Role != "" {
		f.remedy += " One that would do: " + phrase.Command("kubectl", "create", "clusterrolebinding", of.Account.Name+"-"+of.Role,
			"--clusterrole="+of.Role, "--serviceaccount="+of.Account.Namespace+":"+of.Account.Name)
	}
	if of.Lacking != "" {
		f.remedy = fmt.Sprintf("Add the verbs update and patch of %s to %s, and let %s finish.", of.Resource, of.Lacking, b.who)
	}
	f.remedy += b.honoured()
	ask := []string{"kubectl", "auth", "can-i", "patch", of.Resource, "--as=" + of.Account.User()}
	if ns := b.o.GetNamespace(); ns != "" {
		ask = append(ask, "-n", ns)
	}
	f.commands = []step{fixedCommand(ask...).doing("asks the server whether it may: yes, once the binding is there").risking(finalizer.RiskNone)}
	if add, ok := adding(of, b.o); ok {
		f.commands = append(f.commands, add.doing("lets it remove the finalizer: whatever installs the role has to grant it as well").risking(b.honouring()))
	}
	return f
}

// adding is the command that adds the verbs to a role that lacks them. A Role in a namespace that is being deleted can still be changed.
func adding(of actor.Forbidden, o *unstructured.Unstructured) (step, bool) {
	kind, name, _ := strings.Cut(of.Lacking, " ")
	if name == "" {
		return step{}, false
	}
	resource, group, _ := strings.Cut(of.Resource, ".")
	args := []string{"kubectl", "patch", strings.ToLower(kind) + "/" + name, "--type=json", "-p",
		fmt.Sprintf(`[{"op":"add","path":"/rules/-","value":{"apiGroups":[%q],"resources":[%q],"verbs":["update","patch"]}}]`, group, resource)}
	if kind == "Role" {
		args = append(args, "-n", o.GetNamespace())
	}
	return fixedCommand(args...), true
}

// notWatching is for an actor that was started to watch other namespaces.
func (e *finalizers) notWatching(b blame, f finding, s actor.Scope) finding {
	ns, name := b.o.GetNamespace(), graph.Located(s.Workload.GetKind(), s.Workload.GetNamespace(), s.Workload.GetName())
	f.code = ActorNotWatching
	f.evidence = append([]v1alpha1.Observation{s.Observation(), {Says: "the object is in namespace " + ns}}, f.evidence...)
	f.remedy = fmt.Sprintf("Have %s watch namespace %s as well, through whatever installs it, and let it finish.", name, ns) + b.honoured()
	if s.Variable {
		set := at(e.ref(s.Workload), command("kubectl", "set", "env", "OBJECT", s.Setting+"="+s.Value+","+ns))
		f.commands = []step{set.doing("starts it again so that it watches " + ns + " as well").risking(b.honouring())}
	}
	return f
}

// alsoPaused adds to a finding about an actor that is not known to be alive that it would ignore the object.
func (e *finalizers) alsoPaused(ctx context.Context, b blame, f finding) finding {
	for _, p := range e.actors.Paused(ctx, b.o, b.Actor) {
		f.evidence = append(f.evidence, p.Observation(b.o))
		f.commands = append(f.commands, e.resume(b, p))
	}
	return f
}

// resume is the command that ends a pause.
func (e *finalizers) resume(b blame, p actor.Pause) step {
	risk := b.honouring()
	if p.Moved {
		risk = finalizer.DataLoss
	}
	return at(e.ref(p.Object), command(append([]string{"kubectl"}, p.Resume()...)...)).doing("has " + b.who + " work on it again").risking(risk)
}

// moved warns of what a pause of Cluster API can mean.
func moved(p actor.Pause) string {
	if !p.Moved {
		return ""
	}
	return " " + phrase.Sentence("clusterctl move pauses the Cluster that it moves: make sure first that no other management cluster owns its machines now, since this one would delete them")
}
