package actor

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// patience is for how long a workload or pod must not have been ready, or a Lease not renewed, to
// be a witness of death: nodes are drained, images are pulled and leaders are elected within it.
const patience = 10 * time.Minute

// unready says for how long a workload that should have pods has had none that is ready. That is
// the time since the latest of these: a transition of its conditions Available and Progressing, or
// its creation if it has none of them; the time of its deletion; a transition of the condition
// Ready of its pods, or the creation of one that has none. Anything younger than patience means
// that it may be starting.
func (s *search) unready(ctx context.Context, o *unstructured.Unstructured, sign Sign) Sign {
	since, verb := changed(o)
	if observed := number(o, -1, "status", "observedGeneration"); observed >= 0 && observed < o.GetGeneration() {
		sign.Says += ": its controller has not acted on its last change"
		sign.starting = true
		return sign
	}
	if past := s.now().Sub(since); past >= patience {
		pods, err := s.podsSelectedBy(ctx, o)
		if err != nil {
			s.missed("the pods of %s cannot be listed: %v", title(o), err)
			sign.starting = true
			return sign
		}
		available, said := status.Find(o, "Available")
		if len(pods) == 0 && said && available.Status != "False" {
			sign.starting = true // its status is not of now: it says that enough pods are available
			return sign
		}
		for _, pod := range pods {
			if podReady(pod) && pod.GetDeletionTimestamp() == nil {
				return Sign{Life: Alive, Says: title(pod) + " is ready", From: place(pod, "status.conditions")}
			}
			if at, of := changedPod(pod); at.After(since) {
				since, verb = at, of
			}
		}
	}
	past := s.now().Sub(since)
	if past < patience {
		sign.Says += ": " + verb + " " + phrase.Ago(past)
		sign.starting = true
		return sign
	}
	sign.Life, sign.Says = Dead, title(o)+" has had no ready pod for "+phrase.Ago(past)
	return sign
}

// What has been going on since a time, for use in "it has been …".
const (
	startingFor = "starting for"
	unreadyFor  = "not ready for"
	deletedFor  = "being deleted for"
	idleFor     = "idle for"
)

// changed returns since when a workload has been as it is, and what it has been doing.
func changed(o *unstructured.Unstructured) (time.Time, string) {
	var since time.Time
	for _, of := range []string{"Available", "Progressing"} {
		if c, ok := status.Find(o, of); ok && c.Since.After(since) {
			since = c.Since
		}
	}
	verb := unreadyFor
	if since.IsZero() {
		since, verb = o.GetCreationTimestamp().Time, startingFor
	}
	if idle(o) { // its controller writes no conditions
		for _, m := range o.GetManagedFields() {
			if m.Subresource == "status" && m.Time != nil && m.Time.After(since) {
				since, verb = m.Time.Time, idleFor
			}
		}
	}
	if at := o.GetDeletionTimestamp(); at != nil && at.After(since) {
		since, verb = at.Time, deletedFor
	}
	return since, verb
}

// changedPod returns since when a pod has been as it is, and what it has been doing.
func changedPod(pod *unstructured.Unstructured) (time.Time, string) {
	if c, ok := status.Find(pod, "Ready"); ok && !c.Since.IsZero() {
		return c.Since, unreadyFor
	}
	return pod.GetCreationTimestamp().Time, startingFor
}
