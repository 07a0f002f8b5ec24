package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Writer is a field manager and when it wrote last, as managedFields say. It is a hint and no
// proof: anybody can edit a field, and a client can call itself what it likes.
type Writer struct {
	Manager string
	At      time.Time
}

// FinalizerPath is where managedFields name a finalizer of an object's metadata.
func FinalizerPath(finalizer string) []string {
	return []string{"f:metadata", "f:finalizers", "v:" + quoted(finalizer)}
}

// OwnerPath is where managedFields name the reference to an owner.
func OwnerPath(uid string) []string {
	return []string{"f:metadata", "f:ownerReferences", `k:{"uid":` + quoted(uid) + `}`}
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // a string always can be
	return string(raw)
}

// Managed is one entry of an object's managedFields.
type Managed struct {
	Writer
	Operation, Subresource string
	// Fields are those that it manages, as fieldsV1 has them. They belong to the object.
	Fields map[string]any
}

// ManagedFields returns an object's managedFields without a copy: an object with some thousand
// finalizers is asked about each of them.
func ManagedFields(o *unstructured.Unstructured) iter.Seq[Managed] {
	return func(yield func(Managed) bool) {
		found, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "managedFields")
		entries, _ := found.([]any)
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			text := func(key string) string {
				value, _ := entry[key].(string)
				return value
			}
			m := Managed{Writer: Writer{Manager: text("manager")}, Operation: text("operation"),
				Subresource: text("subresource")}
			m.At, _ = time.Parse(time.RFC3339, text("time")) // the zero time if there is none
			m.Fields, _ = entry["fieldsV1"].(map[string]any)
			if !yield(m) {
				return
			}
		}
	}
}

// Writers returns who manages a field of an object, named by its path in managedFields.
func Writers(o *unstructured.Unstructured, path []string) []Writer {
	var all []Writer
	for m := range ManagedFields(o) {
		if hasField(m.Fields, path) {
			all = append(all, m.Writer)
		}
	}
	return all
}

func hasField(fields map[string]any, path []string) bool {
	for _, step := range path {
		next, has := fields[step]
		if !has {
			return false
		}
		fields, _ = next.(map[string]any)
	}
	return true
}

// LastWriter returns who has written a field last; the zero Writer if managedFields name nobody.
func LastWriter(o *unstructured.Unstructured, path []string) Writer {
	var last Writer
	for i, w := range Writers(o, path) {
		if i == 0 || w.At.After(last.At) {
			last = w
		}
	}
	return last
}

// PutBackError is of a write that the server has taken and that has come to nothing: what was
// removed is there again. To send it once more would be to fight whoever puts it back.
type PutBackError struct {
	// What names what was removed, in words.
	What string
	// Times is how often it was removed in vain; 0 says that the answer to the write had it
	// already.
	Times int
	// Manager is the field manager that has written it last, empty if managedFields name none.
	Manager string
	// Mutators are what may have changed the write on its way (Client.Mutators).
	Mutators []string
}

// Error names who has put it back, as far as it is known.
func (e *PutBackError) Error() string {
	switch {
	case e.Times == 0 && len(e.Mutators) > 0:
		return fmt.Sprintf(
			"%s was put back in the same request by a webhook or a policy that changes writes; these may change them: %s",
			e.What, strings.Join(e.Mutators, ", "))
	case e.Times == 0:
		return e.What + " was put back in the same request by a webhook or a policy that changes writes"
	case e.Manager != "":
		return fmt.Sprintf("%s was put back %s by %q, as managedFields say: stop it first", e.What, times(e.Times), e.Manager)
	}
	return fmt.Sprintf("%s was put back %s by a webhook or another client, and managedFields do not say by which", e.What,
		times(e.Times))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// PutBackAtOnce is the error of a write whose answer still has what it was to remove. What names
// that in words.
func (c *Client) PutBackAtOnce(ctx context.Context, t graph.Type, what string) *PutBackError {
	return &PutBackError{What: what, Mutators: c.Mutators(ctx, t)}
}

// PutBack is the error of what was removed from an object so many times and is there again. Path is
// where managedFields name it; who they name now has put it back, if it was not this client.
func (c *Client) PutBack(ctx context.Context, t graph.Type, object graph.Ref, what string, path []string,
	times int) *PutBackError {
	e := &PutBackError{What: what, Times: times}
	if o, err := c.GetObjectMeta(ctx, t, object.Namespace, object.Name); err == nil && string(o.GetUID()) == object.UID {
		if w := LastWriter(o, path); w.Manager != FieldManager {
			e.Manager = w.Manager
		}
	}
	return e
}

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
	return c.post(ctx, graph.Type{Version: "v1", Resource: Events.Resource}, namespace, event, &struct{}{})
}
