package deletion

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

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

// readDetails reads what a plan cannot tell from metadata: how long the pods of the cascade may
// take to terminate and what they request, what the StatefulSets do with their claims, for which DNS
// names objects ask, and which ReplicaSets come back.
func readDetails(ctx context.Context, client *cluster.Client, p *plan.Plan) (plan.Details, error) {
	f := plan.Details{Pods: map[graph.ID]plan.Pod{}, StatefulSets: map[graph.ID]plan.StatefulSet{}}
	pods, tooMany := upTo(mostRead, p.DeletedOf("", "pods"))
	sets, tooManySets := upTo(mostRead, p.DeletedOf("apps", "statefulsets"))
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
	f.MadeAgain, err = readRollouts(ctx, client, p)
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

// findConfirmations finds out which objects of a plan are not gone until somebody confirms their
// deletion, of those with finalizers that it waits for. Only objects with a finalizer whose actor asks
// for that are read. The error is the end of ctx.
func findConfirmations(ctx context.Context, client *cluster.Client, known *finalizer.Registry, p *plan.Plan,
	carriers iter.Seq2[graph.ID, []string], f *plan.Facts) error {
	by := map[graph.ID][]confirmable{}
	for id, names := range carriers {
		ref := p.Graph.Ref(id)
		for _, name := range names {
			k, _ := known.Lookup(name, ref.Group(), ref.Kind)
			for _, h := range k.HeldBy {
				if h.Approval != "" {
					by[id] = append(by[id], confirmable{ref, name, k.Who(), h})
				}
			}
		}
	}
	var ids []graph.ID
	ids, f.UnreadConfirmations = upTo(mostRead, slices.Sorted(maps.Keys(by)))
	f.TooMany = append(f.TooMany, f.UnreadConfirmations...)
	read := map[graph.ID][]plan.Confirmation{}
	var mu sync.Mutex
	err := client.ForEachObject(ctx, cluster.RequestObjects(p.Graph, ids), func(o *unstructured.Unstructured) error {
		id, there := p.Graph.Lookup(string(o.GetUID()))
		if !there { // another can have its name
			return nil
		}
		var all []plan.Confirmation
		for _, c := range by[id] {
			all = append(all, c.awaited(o)...)
		}
		mu.Lock()
		defer mu.Unlock()
		read[id] = all
		return nil
	})
	for _, id := range ids {
		all, is := read[id]
		f.Confirmations = append(f.Confirmations, all...)
		if err != nil && !is {
			f.UnreadConfirmations = append(f.UnreadConfirmations, id)
		}
	}
	return context.Cause(ctx)
}

// confirmable is a finalizer of an object whose actor may wait until somebody confirms the deletion.
type confirmable struct {
	object         graph.Ref
	finalizer, who string
	hold           finalizer.Hold
}

// awaited are the confirmations that the object needs: none if it says that it needs none, or if it
// was given.
func (c confirmable) awaited(o *unstructured.Unstructured) []plan.Confirmation {
	held := c.hold.HoldingNames(o.Object)
	if len(held) == 0 || !c.hold.Applies(o.Object) || status.Approved(o, c.hold.Approval) {
		return nil
	}
	return []plan.Confirmation{{Object: c.object, Finalizer: c.finalizer,
		Waits: c.who + " " + c.hold.Filled(c.hold.Waits, c.who, held), Annotation: c.hold.Approval}}
}
