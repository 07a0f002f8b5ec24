package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// DeleteOptions say how to delete one object. The uid is not an option: every delete carries it.
type DeleteOptions struct {
	// Policy is the propagation policy, as the API server spells it.
	Policy string
	// ResourceVersion, if not empty, is a precondition too: what was decided on is what is deleted
	// (API-015).
	ResourceVersion string
	// GracePeriodSeconds, if not nil, takes the place of the object's own.
	GracePeriodSeconds *int64
	// DryRun has the server do everything but store the result (API-040). It is sent only if the
	// client's Guard lets it; the error is an UnaskedError otherwise.
	DryRun bool
}

// Deleted is what the server answered to a delete.
type Deleted struct {
	// Finalizers are those on the object as it was answered; nil if the answer is no object, which
	// need not mean that it is gone (API-021).
	Finalizers []string
	// Object reports whether the answer was the object.
	Object bool
	// Gone says that the object is no more: the answer was a Status with its uid. Some types answer
	// with the object though it is gone, so that false says nothing (API-021).
	Gone bool
}

// Delete deletes an object if it still has the uid. The error is the server's: Conflict if the uid
// or the resourceVersion is another. It is ErrUnclear if something has answered that does not say
// whether the object was deleted.
func (c *Client) Delete(ctx context.Context, t graph.Type, namespace, name, uid string, opts DeleteOptions) (Deleted,
	error) {
	id := types.UID(uid)
	policy := metav1.DeletionPropagation(opts.Policy)
	body := metav1.DeleteOptions{
		TypeMeta:           metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		GracePeriodSeconds: opts.GracePeriodSeconds,
		PropagationPolicy:  &policy,
		Preconditions:      &metav1.Preconditions{UID: &id},
	}
	if opts.ResourceVersion != "" {
		body.Preconditions.ResourceVersion = &opts.ResourceVersion
	}
	if opts.DryRun {
		if err := c.MayDryRun(ctx, t, namespace, name); err != nil {
			return Deleted{}, err
		}
		body.DryRun = []string{metav1.DryRunAll}
		c.dryRuns.add(DryRun{"DELETE", t, namespace})
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return Deleted{}, err
	}
	writing, done, err := writeContext(ctx)
	if err != nil {
		return Deleted{}, err
	}
	defer done()
	req := c.rest.Delete().AbsPath(resourcePath(t, namespace, name)...).SetHeader("Content-Type", acceptJSON).
		SetHeader("Accept", acceptJSON).Body(raw)
	if opts.DryRun { // nobody typed it
		req.WarningHandlerWithContext(quietWarnings{})
	}
	result := req.Do(writing)
	if err := result.Error(); err != nil {
		return Deleted{}, err
	}
	raw, err = result.Raw()
	if err != nil {
		return Deleted{}, err
	}
	answer, err := readDeleted(raw, uid)
	if err != nil {
		return Deleted{}, fmt.Errorf("deleting %s %q: %w: %w", t.Resource, name, ErrUnclear, err)
	}
	answer.Gone = answer.Gone && !opts.DryRun
	return answer, nil
}

// ErrUnclear is of a write whose answer does not say what came of it: it is no answer of an API
// server, or it is about something else. The object has to be read to know.
var ErrUnclear = errors.New("the answer does not say whether it was done")

// readDeleted reads the answer to a DELETE: a Status or an object. An object may be of any type,
// and a custom resource may have anything in the fields that a Status has, so each field is read
// for itself: one that is not of the form expected says nothing. It is a map because the fields of
// a struct are found in any case, and "Metadata" is another field than "metadata".
func readDeleted(raw []byte, uid string) (Deleted, error) {
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Deleted{}, err
	}
	if text(answer["kind"]) == "Status" && text(answer["apiVersion"]) == "v1" {
		var details struct{ UID string }
		_ = json.Unmarshal(answer["details"], &details) // of other servers they may be anything
		if text(answer["status"]) != metav1.StatusSuccess || details.UID != "" && details.UID != uid {
			return Deleted{}, errors.New("it is a Status of something else")
		}
		return Deleted{Gone: details.UID == uid}, nil
	}
	var metadata struct {
		UID        string
		Finalizers []string
	}
	if json.Unmarshal(answer["metadata"], &metadata) != nil || metadata.UID != uid {
		return Deleted{}, errors.New("it is neither the object nor a Status")
	}
	return Deleted{Object: true, Finalizers: metadata.Finalizers}, nil
}

// text is the string that a field has, empty if it has none.
func text(field json.RawMessage) string {
	var s string
	_ = json.Unmarshal(field, &s) // which leaves it empty if there is no string
	return s
}

// Guard returns why no DELETE with dryRun=All is to be sent for an object, an UnaskedError, and nil
// if it may be sent: there are webhooks that write when they are called for a dry run.
type Guard func(ctx context.Context, t graph.Type, namespace, name string) error

// UnaskedError is of a DELETE that was not sent with dryRun=All.
type UnaskedError struct {
	// Refused says that the server would refuse the DELETE. Without it, what the server would say
	// is not known.
	Refused bool
	// Guard is the object that keeps it from being deleted, and on which that depends; empty if it
	// is not known.
	Guard string
	// Because is why it was not sent, as a clause.
	Because string
	// Writes is what a webhook would write on a dry run; empty if that is not known.
	Writes string
}

func (e *UnaskedError) Error() string {
	switch {
	case e.Refused && e.Writes != "":
		return e.Because + ", which is known without a dry run, on which a webhook would write " + e.Writes
	case e.Refused:
		return e.Because + ", which is known without a dry run"
	}
	return "no dry run was sent, so that it is not known whether its deletion is refused: " + e.Because
}

// Unasked returns the UnaskedError in an error, nil if there is none.
func Unasked(err error) *UnaskedError {
	unasked, _ := errors.AsType[*UnaskedError](err)
	return unasked
}

// Guarded returns a Client that shares the connections of this one and asks a Guard before each
// DELETE with dryRun=All. A Client without a Guard sends none.
func (c *Client) Guarded(by Guard) *Client {
	guarded := *c
	guarded.guard = by
	return &guarded
}

// MayDryRun returns why no DELETE with dryRun=All is sent for an object, an UnaskedError; nil if
// one would be.
func (c *Client) MayDryRun(ctx context.Context, t graph.Type, namespace, name string) error {
	if c.guard == nil {
		return &UnaskedError{Because: "what protects objects from being deleted was not looked up"}
	}
	return c.guard(ctx, t, namespace, name)
}

// DryRun is a kind of write that was sent with dryRun=All.
type DryRun struct {
	// Operation is DELETE or UPDATE, as admission calls it.
	Operation string
	Type      graph.Type
	Namespace string
}

// dryRuns are those that were sent, each kind once.
type dryRuns struct {
	mu   sync.Mutex
	sent map[DryRun]bool
}

func (d *dryRuns) add(sent DryRun) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent[sent] = true
}

// DryRuns returns the kinds of deletes and updates that were sent with dryRun=All, by this Client
// and by those that were made of it.
func (c *Client) DryRuns() []DryRun {
	c.dryRuns.mu.Lock()
	defer c.dryRuns.mu.Unlock()
	return slices.Collect(maps.Keys(c.dryRuns.sent))
}

// IsImmortal reports whether an object is a namespace that every API server refuses to delete,
// whoever asks (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func IsImmortal(ref graph.Ref) bool {
	return ref.Group() == Namespaces.Group && ref.Resource == Namespaces.Resource &&
		slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, ref.Name)
}
