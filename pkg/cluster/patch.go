package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// FieldManager is what managedFields call this client.
const FieldManager = "kubectl-gc"

// PatchStep is one step of a JSON patch (RFC 6902). Lists are changed this way and no other: a
// strategic merge cannot remove finalizers and is unknown to custom resources, and a merge patch
// overwrites what somebody else has changed in the list (T-09, T-10).
type PatchStep struct {
	// Op is test, add, replace or remove.
	Op   string `json:"op"`
	Path string `json:"path"`
	// Value is left out if it is nil; false and "" are not.
	Value any `json:"value,omitempty"`
}

// PatchOptions say how to send a patch.
type PatchOptions struct {
	// DryRun has the server do everything but store the result (API-040).
	DryRun bool
}

// Unchanged are the tests with which every patch begins: the object is the one that was read, and
// is as it was read. An empty resourceVersion leaves the second out.
func Unchanged(uid, resourceVersion string) []PatchStep {
	steps := []PatchStep{{Op: "test", Path: "/metadata/uid", Value: uid}}
	if resourceVersion != "" {
		steps = append(steps, PatchStep{Op: "test", Path: "/metadata/resourceVersion", Value: resourceVersion})
	}
	return steps
}

// Patch sends a JSON patch and returns the metadata that the server answers with, which need not be
// what was asked for: a webhook may have changed it (API-033). The error is the server's: Invalid
// if a test fails, or if the object would not be valid; so whoever gets one reads the object again
// to know which.
func (c *Client) Patch(ctx context.Context, t graph.Type, namespace, name string, steps []PatchStep,
	opts PatchOptions) (*graph.Object, error) {
	raw, err := json.Marshal(steps)
	if err != nil {
		return nil, err
	}
	path := append(resourcePath(t.Group, t.Version, t.Resource, namespace), name)
	req := c.rest.Patch(types.JSONPatchType).AbsPath(path...).Param("fieldManager", FieldManager).Body(raw)
	if opts.DryRun { // nobody typed it
		c.dryRuns.add(DryRun{"UPDATE", t, namespace})
		req.Param("dryRun", metav1.DryRunAll).WarningHandlerWithContext(quietWarnings{})
	}
	writing, done, err := writeContext(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return getMetadata(writing, req, name)
}

// IsStale says whether an error of a write is about an object that is not as it was read. A test of
// a patch that fails is Invalid, without a cause, where an object that is not valid has some
// (T-17).
func IsStale(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		return false
	}
	details := status.Status().Details
	return (details == nil || len(details.Causes) == 0) && !strings.Contains(err.Error(), "denied the request")
}
