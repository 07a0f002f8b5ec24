package finalizers

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// mayNotDelete is the need of the right to delete what names a custom resource as its owner and what
// neither the garbage collector nor whoever cleans up deletes: the collector leaves what has no
// namespace and an owner in one, and the server denies that actor the verb, as for the
// ClusterRoleBinding of a MariaDB
// (https://github.com/mariadb-operator/mariadb-operator/issues/1895). It asks the server as the
// account of the actor, or of the one workload that RBAC lets write the object. What the server does
// not deny is not lacking.
func (e dependencies) mayNotDelete(ctx context.Context, b core.Responsible) (n need) {
	if b.Object.GetNamespace() == "" || cluster.BuiltIn(b.Object.GroupVersionKind().Group) || e.Many {
		return n
	}
	asked := 0
	for id := range e.Dependents(b.Object) {
		t, typed := e.Graph.Type(id)
		if !typed || t.Namespaced || !e.Graph.Observed(id) || e.Graph.DeletionTimestamp(id) != 0 {
			continue
		}
		account, known := e.accountOf(ctx, b)
		if asked++; !known || asked > phrase.MaxNamed {
			return n
		}
		ref := e.Graph.Ref(id)
		review, err := e.Reader.ReviewOf(ctx, account, cluster.Access{Verb: "delete", Type: t, Name: ref.Name})
		if err != nil || review.Permission != cluster.Denied {
			continue
		}
		of := t.GroupResource().String()
		n.seen = append(n.seen, core.ObservedAt(ref.Located(), fmt.Sprintf(
			"%s names it as its owner, and ServiceAccount %s/%s may not delete %s", ref.Located(), account.Namespace,
			account.Name, of))...)
		if n.what == "" {
			n.what = fmt.Sprintf("the right to delete %s, which the garbage collector does not delete for an owner in a namespace",
				ref.Located())
			n.mend = fmt.Sprintf("give ServiceAccount %s/%s that right, or delete that object by hand,", account.Namespace,
				account.Name)
			n.look = []core.Step{core.FixedCommand("kubectl", "auth", "can-i", "delete", of, "--as="+account.User()).
				Safely("asks the server whether it may: yes, once it is permitted")}
		}
	}
	return n
}

// accountOf is the account of an actor that is alive, or of the one workload that RBAC lets write
// the object; false if it is not known, or there is more than one.
func (e dependencies) accountOf(ctx context.Context, b core.Responsible) (account cluster.ServiceAccount, known bool) {
	workloads := b.Workloads
	if len(workloads) == 0 && b.Life == actor.Unknown {
		leads, ok := e.Actors.Permitted(ctx, b.Object)
		only := leads.Watching(b.Object).Only()
		if !ok || only == nil {
			return account, false
		}
		return actor.Account(only), true
	}
	for _, w := range workloads {
		if of := actor.Account(w); !known || of == account {
			account, known = of, true
		} else {
			return account, false
		}
	}
	return account, known
}
