package restore

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// made are the kinds of which a controller of Kubernetes makes the objects for an owner, by their
// kind, and makes them again.
var made = map[schema.GroupKind][]schema.GroupKind{
	{Group: "apps", Kind: "ReplicaSet"}: {{Group: "apps", Kind: "Deployment"}},
	kindPod: {
		{Group: "apps", Kind: "ReplicaSet"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"},
		{Kind: "ReplicationController"}, kindJob,
	},
	{Group: "apps", Kind: "ControllerRevision"}: {{Group: "apps", Kind: "StatefulSet"},
		{Group: "apps", Kind: "DaemonSet"}},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {kindService, kindEndpoints},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:  {kindPod},
}

// rootCA is the ConfigMap that a controller writes to each namespace.
const rootCA = "kube-root-ca.crt"

// maker says who makes an archived object again; empty if nobody does. Comes says whether an
// archived object is there or comes back.
func (x *index) maker(it *item, comes func(uid string) bool) string {
	if c := it.controller(); c != nil {
		by := schema.FromAPIVersionAndKind(c.APIVersion, c.Kind).GroupKind()
		for _, kind := range made[it.kind()] {
			if kind == by && comes(string(c.UID)) {
				return "the controller of " + c.Kind + " " + c.Name
			}
		}
	}
	switch {
	case it.kind() == kindConfigMap && it.ref.Name == rootCA:
		return "the controller of root certificates"
	case it.facts.mirror:
		return "the kubelet"
	case it.kind() == kindEndpoints:
		if s := x.places[place{kindService, it.ref.Namespace, it.ref.Name}]; s != nil && s.facts.selects && comes(s.ref.UID) {
			return "the controller of Service " + s.ref.Name
		}
	}
	return ""
}

// isEvent says whether an object only tells what has happened.
func isEvent(kind schema.GroupKind) bool {
	return kind.Kind == "Event" && (kind.Group == "" || kind.Group == "events.k8s.io")
}

// leftOut says why an object that is gone is not created again; an empty Reason if it is. Whether
// something is restored that it owns decides about what controllers make: a new one would have
// another uid.
func (x *index) leftOut(it *item, all, owns bool, comes func(uid string) bool) (Reason, string) {
	switch {
	case isEvent(it.kind()):
		return IsEvent, "an event tells what happened at the time"
	case it.kind() == kindVolume && !it.facts.retained:
		return StorageDeleted, "its reclaim policy is Delete: the storage behind it was deleted with it"
	case all:
		return "", ""
	}
	if by := x.maker(it, comes); by != "" && !owns {
		return ByController, by + " makes it again"
	}
	if it.facts.finished {
		return Finished, "it has run to its end, and would run again"
	}
	return "", ""
}
