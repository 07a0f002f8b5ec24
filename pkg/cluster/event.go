package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Warning is an Event of the type Warning about an object.
type Warning struct {
	Object graph.Ref
	// ResourceVersion is the one that the object was read in.
	ResourceVersion string
	Reason, Message string
	// Component is whose part it is, Reporter who wrote it.
	Component, Reporter string
}

// Warn writes a Warning to the object's namespace, and to default for a cluster-scoped object, as
// client-go's recorder does. The error is the server's: a namespace that is being deleted takes
// none (API-024).
func (c *Client) Warn(ctx context.Context, w Warning) error {
	namespace := w.Object.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	now := metav1.Now()
	event := corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", w.Object.Name, now.UnixNano()), Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: w.Object.APIVersion, Kind: w.Object.Kind, Namespace: w.Object.Namespace, Name: w.Object.Name,
			UID: types.UID(w.Object.UID), ResourceVersion: w.ResourceVersion,
		},
		Type: corev1.EventTypeWarning, Reason: w.Reason, Message: w.Message,
		Source: corev1.EventSource{Component: w.Component}, ReportingController: w.Reporter,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	raw, err := json.Marshal(event)
	if err != nil {
		return err
	}
	path := resourcePath("", "v1", "events", namespace)
	return c.rest.Post().AbsPath(path...).SetHeader("Content-Type", "application/json").SetHeader("Accept",
		acceptJSON).Body(raw).Do(ctx).Error()
}
