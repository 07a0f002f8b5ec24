package diagnose

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// ofServers selects the Leases that API servers renew themselves
// (https://kubernetes.io/docs/concepts/architecture/leases).
const ofServers = "apiserver.kubernetes.io/identity=kube-apiserver"

// storesNothing is for how long no Lease must have been renewed.
const storesNothing = 10 * time.Minute

// unwritten is for an API server that answers, and does not renew its own Lease, as nobody renews any
// since the object was deleted: it refuses writes, as with a full etcd
// (https://etcd.io/docs/v3.2/op-guide/maintenance/). No controller can act then, be it alive or not,
// and a dry run succeeds, which does not reach the storage. What a dump has is too old.
func (e *examiner) unwritten(ctx context.Context, id graph.ID) []core.Finding {
	now := e.Reader.Now() // by the clock of the server
	if e.Client.IsStill() {
		return nil
	}
	if e.renewed == nil {
		e.renewed = new(e.lastRenewed(ctx, now))
	}
	since := now.Sub(*e.renewed)
	if since < storesNothing || time.Unix(e.Graph.DeletionTimestamp(id), 0).After(e.renewed.Add(time.Minute)) {
		return nil
	}
	return core.Found(e.Graph.Ref(id), core.Finding{
		Code: core.AdmissionDenied,
		Evidence: core.Seen("no Lease was renewed for %s, not even that of the API server, which answers",
			phrase.Ago(since)),
		Sentence: "the API server answers, and seems to store nothing: nobody can change the object",
		Remedy: "Check the API server and etcd first: a full etcd refuses writes until its alarm is disarmed, and the log of the API " +
			"server says so. While nothing is stored no controller can act, and an old Lease does not show that one is down.",
		Commands: []core.Step{core.FixedCommand("kubectl", "get", "leases", "-n", "kube-system", "-l", ofServers, "-o",
			"custom-columns=NAME:.metadata.name,RENEWED:.spec.renewTime").
			Safely("shows when the API servers renewed their Leases")},
	})
}

// lastRenewed is when a Lease was renewed last: any, if those of the API servers are old. It is now if
// that cannot be seen; who may not list Leases misses nothing but this.
func (e *examiner) lastRenewed(ctx context.Context, now time.Time) (last time.Time) {
	t, served := e.Reader.Lookup(cluster.Leases)
	for _, of := range []struct{ namespace, labels string }{{"kube-system", ofServers}, {}} {
		if !served {
			return now
		}
		all, err := e.Client.ListObjects(ctx, t.Type, of.namespace, cluster.Selection{Labels: of.labels})
		if err != nil || len(all) == 0 {
			return now
		}
		for _, lease := range all {
			if at, err := time.Parse(time.RFC3339, status.Nested(lease, "spec", "renewTime")); err == nil && at.After(last) {
				last = at
			}
		}
		if now.Sub(last) < storesNothing {
			break
		}
	}
	return last
}
