package deletion

import (
	"context"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// mostRead is how many pods, StatefulSets, namespaces, and objects that ask for DNS names, of a cascade
// are read, each. Of more than these it is said that they were not.
const mostRead = 2000

// mostLabeled is of how many roots the labels are read. Of a plan with more roots it is not said
// which addons come back.
const mostLabeled = 20

// readDetails reads what a plan cannot tell from metadata: how long the pods of the cascade may
// take to terminate and what they request, what the StatefulSets do with their claims, those too
// that stay, for which DNS names objects ask, and which ReplicaSets come back.
func readDetails(ctx context.Context, client *cluster.Client, p *plan.Plan) (plan.Details, error) {
	f := plan.Details{Pods: map[graph.ID]plan.Pod{}, StatefulSets: map[graph.ID]plan.StatefulSet{}}
	pods, tooMany := upTo(mostRead, p.DeletedOf("", "pods"))
	sets, tooManySets := upTo(mostRead, slices.Concat(p.DeletedOf("apps", "statefulsets"), p.Claiming()))
	f.Unread = slices.Concat(tooMany, tooManySets)
	f.TooMany = slices.Clone(f.Unread)
	naming, tooManyNaming := upTo(mostRead, p.Naming())
	f.UnreadNaming = tooManyNaming
	contents, unread, err := client.SpecFields(ctx, p.Graph, slices.Concat(pods, sets, naming))
	if err != nil {
		return f, err
	}
	for _, id := range unread {
		if slices.Contains(naming, id) {
			f.UnreadNaming = append(f.UnreadNaming, id)
		} else {
			f.Unread = append(f.Unread, id)
		}
	}
	for _, id := range naming {
		f.DNSNames = append(f.DNSNames, contents[id].DNSNames...)
	}
	for _, id := range pods {
		if c, ok := contents[id]; ok {
			f.Pods[id] = podOf(c)
		}
	}
	for _, id := range sets {
		if c, ok := contents[id]; ok {
			f.StatefulSets[id] = plan.StatefulSet{Templates: c.VolumeClaimTemplates, DeletesPVCs: c.WhenDeleted == "Delete"}
		}
	}
	if f.MadeAgain, err = readRollouts(ctx, client, p); err == nil && len(p.Roots) <= mostLabeled {
		f.Labels, err = client.Labels(ctx, p.Graph, p.Roots)
	}
	return f, err
}

// readNamespaces reads the finalizers of others in the specs of the namespaces that are deleted.
func readNamespaces(ctx context.Context, client *cluster.Client, p *plan.Plan) (held map[graph.ID][]string,
	unread []graph.ID, err error) {
	ids, unread := upTo(mostRead, p.DeletedOf("", cluster.Namespaces.Resource))
	contents, failed, err := client.SpecFields(ctx, p.Graph, ids)
	held = map[graph.ID][]string{}
	for _, id := range ids {
		others := slices.DeleteFunc(contents[id].Finalizers, func(f string) bool { return f == plan.NamespaceFinalizer })
		if len(others) > 0 {
			held[id] = others
		}
	}
	return held, append(unread, failed...), err
}

// upTo returns all of the objects to be read, or none and all to be left unread if they are more
// than most.
func upTo(most int, ids []graph.ID) (read, unread []graph.ID) {
	if len(ids) > most {
		return nil, ids
	}
	return ids, nil
}

func podOf(c cluster.SpecFields) plan.Pod {
	pod := plan.Pod{Node: c.NodeName, Ended: c.Phase == "Succeeded" || c.Phase == "Failed",
		Requests: c.Requests}
	switch {
	case c.DeletionGracePeriodSeconds != nil:
		pod.GracePeriodSeconds = *c.DeletionGracePeriodSeconds
	case c.TerminationGracePeriodSeconds != nil:
		pod.GracePeriodSeconds = *c.TerminationGracePeriodSeconds
	}
	return pod
}

// fewNodes is how many nodes are read one by one; of more all are listed.
const fewNodes = 100

// findSilentNodes finds out which pods of a plan are on nodes whose kubelet is not heard from. Where
// nodes may not be read nothing is said. Pods of a node that does not exist go by themselves. The
// error is the end of ctx.
func findSilentNodes(ctx context.Context, client *cluster.Client, reader *cluster.Reader, details *plan.Details) error {
	pods := map[string][]graph.ID{}
	for id, pod := range details.Pods {
		if pod.Node != "" && !pod.Ended {
			pods[pod.Node] = append(pods[pod.Node], id)
		}
	}
	names := slices.Sorted(maps.Keys(pods))
	nodes := make([]*unstructured.Unstructured, len(names))
	if len(names) > fewNodes {
		all, _ := reader.ListObjects(ctx, cluster.Nodes, "", cluster.Selection{})
		for _, o := range all {
			if i, has := slices.BinarySearch(names, o.GetName()); has {
				nodes[i] = o
			}
		}
	} else {
		cluster.Each(client, names, func(i int, name string) {
			nodes[i], _ = reader.GetObject(ctx, cluster.Nodes, "", name)
		})
	}
	for i, o := range nodes {
		if o != nil && actor.Silent(o) {
			says, _ := actor.ReadNode(o, reader.Now())
			slices.Sort(pods[names[i]])
			details.SilentNodes = append(details.SilentNodes,
				plan.SilentNode{Name: names[i], Because: says, Pods: pods[names[i]]})
		}
	}
	return context.Cause(ctx)
}

// confirmations ask the carriers of some finalizers who are not gone until somebody confirms their
// deletion. Only objects with a finalizer whose actor asks for that are read.
func confirmations(g *graph.Graph, known *finalizer.Registry, of iter.Seq2[graph.ID, []string],
	f *plan.Facts) (q *answers[[]plan.Confirmation], tell func()) {
	by := carriers(g, known, of, func(c carrier) bool {
		return slices.ContainsFunc(c.known.HeldBy, func(h finalizer.Hold) bool { return h.Approval != "" })
	})
	ids, tooMany := upTo(mostRead, slices.Sorted(maps.Keys(by)))
	f.UnreadConfirmations, f.TooMany = tooMany, append(f.TooMany, tooMany...)
	q = newAnswers(ids, func(_ context.Context, id graph.ID, o *unstructured.Unstructured) (all []plan.Confirmation) {
		for _, c := range by[id] {
			all = append(all, c.awaited(o)...)
		}
		return all
	})
	return q, func() {
		for _, id := range ids {
			f.Confirmations = append(f.Confirmations, q.by[id]...)
			if q.unread[id] {
				f.UnreadConfirmations = append(f.UnreadConfirmations, id)
			}
		}
	}
}

// awaited are the confirmations that the object needs: none if it says that it needs none, or if they
// were given.
func (c carrier) awaited(o *unstructured.Unstructured) (all []plan.Confirmation) {
	for _, h := range c.known.HeldBy {
		if h.Approval == "" {
			continue
		}
		held := h.HoldingNames(o.Object)
		if len(held) > 0 && h.Applies(o.Object) && !status.Approved(o, h.Approval) {
			all = append(all, plan.Confirmation{Object: c.object, Finalizer: c.finalizer,
				Waits: c.known.Who() + " " + h.Filled(h.Waits, c.known.Who(), held), Annotation: h.Approval})
		}
	}
	return all
}
