package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	// Object says whether the answer was the object.
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
	path := append(resourcePath(t.Group, t.Version, t.Resource, namespace), name)
	req := c.rest.Delete().AbsPath(path...).SetHeader("Content-Type", "application/json").SetHeader("Accept",
		acceptJSON).Body(raw)
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
	if json.Unmarshal(field, &s) != nil {
		return ""
	}
	return s
}
