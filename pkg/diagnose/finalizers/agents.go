package finalizers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// byAgent is for a finalizer that no pack knows, of an object that a user outside the cluster works on:
// no workload that runs here and is only called like the finalizer is meant. Where something of the
// same domain beside the object says when it was heard of last, that is said too.
func (e *Examiner) byAgent(ctx context.Context, b core.Responsible, f core.Finding) (core.Finding, bool) {
	if b.IsKnown || e.Many {
		return f, false
	}
	agents := e.Actors.Agents(ctx, b.Object)
	if len(agents) != 1 {
		return f, false
	}
	f.Evidence = append(f.Evidence, v1alpha1.Observation{Says: fmt.Sprintf("User %s may write it (%s), and no binding names it for "+
		"anything else there: it may be an agent that runs elsewhere", agents[0].User, agents[0].Binding), From: agents[0].Binding})
	f.Remedy = fmt.Sprintf("It may be User %s who removes the finalizer, an agent that runs outside the cluster: find out there "+
		"whether it runs, and what it says.", agents[0].User)
	if by, last := e.heardOf(ctx, b.Object); by != nil {
		silent := e.Now.Sub(last)
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(by, "status"),
			fmt.Sprintf("by %s, the last heartbeat was %s ago", cluster.Located(by), phrase.Ago(silent)))...)
		f.Commands = append(f.Commands, core.At(e.Ref(by), core.Describe()).Safely("shows what is heard from there"))
		if silent >= finishing {
			f.Remedy += fmt.Sprintf(" Nothing was heard from there for %s: if the place where it ran is gone for good, remove the "+
				"finalizer by hand.", phrase.Ago(silent))
		}
	}
	show := core.Describe().Safely("shows what its controller says of it")
	f.Commands = append(f.Commands, show)
	return f, true
}

// mostHeard is how many objects are looked at for a heartbeat.
const mostHeard = 20

// heardOf is the object of the same domain in the namespace of another whose status tells of the last
// heartbeat, and when that was; nil if none does.
func (e *Examiner) heardOf(ctx context.Context, o *unstructured.Unstructured) (
	by *unstructured.Unstructured, last time.Time) {
	looked := 0
	for id := range e.Graph.InNamespace(o.GetNamespace()) {
		ref := e.Graph.Ref(id)
		if ref.Kind == o.GetKind() || !cluster.OfOneDomain(ref.Group(), o.GroupVersionKind().Group) || !e.Graph.Observed(id) {
			continue
		}
		if looked++; looked > mostHeard {
			break
		}
		other := e.Own(ctx, id)
		if other == nil {
			continue
		}
		eachField(other.Object["status"], func(_ map[string]any, key string, item any) {
			text, _ := item.(string)
			at, err := time.Parse(time.RFC3339, text)
			if err == nil && strings.Contains(strings.ToLower(key), "heartbeat") && at.After(last) {
				by, last = other, at
			}
		})
	}
	return by, last
}
