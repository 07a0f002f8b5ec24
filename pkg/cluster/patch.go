package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
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
	req := c.rest.Patch(types.JSONPatchType).AbsPath(resourcePath(t, namespace, name)...).
		Param("fieldManager", FieldManager).Body(raw)
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

// IsStale reports whether an error of a write is about an object that is not as it was read. A test
// of a patch that fails is Invalid, without a cause, where an object that is not valid has some
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

// WriteOptions say how to send a whole object.
type WriteOptions struct {
	// DryRun has the server do everything but store the result (API-040).
	DryRun bool
}

// Create creates an object of a type in a namespace and returns it as the server has stored it. The
// error is the server's.
func (c *Client) Create(ctx context.Context, t graph.Type, namespace string, o *unstructured.Unstructured,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	return c.send(ctx, c.rest.Post().AbsPath(resourcePath(t, namespace)...), acceptJSON, t, o, opts)
}

// UpdateStatus replaces the status of an object, and of no other: the object has the uid and the
// resourceVersion of the live one. The error is the server's: NotFound if the type has no such
// subresource.
func (c *Client) UpdateStatus(ctx context.Context, t graph.Type, o *unstructured.Unstructured,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	path := resourcePath(t, o.GetNamespace(), o.GetName(), "status")
	return c.send(ctx, c.rest.Put().AbsPath(path...), acceptJSON, t, o, opts)
}

// Apply sends an object by server-side apply and takes over the fields that others manage. The uid
// of the object is a precondition: another object of the name is left as it is. The error is the
// server's.
func (c *Client) Apply(ctx context.Context, t graph.Type, o *unstructured.Unstructured,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	path := resourcePath(t, o.GetNamespace(), o.GetName())
	return c.send(ctx, c.rest.Patch(types.ApplyYAMLPatchType).AbsPath(path...).Param("force", "true"),
		string(types.ApplyYAMLPatchType), t, o, opts)
}

// send sends an object and returns the one that the server answers with.
func (c *Client) send(ctx context.Context, req *rest.Request, contentType string, t graph.Type,
	o *unstructured.Unstructured, opts WriteOptions) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	req.Param("fieldManager", FieldManager).SetHeader("Content-Type", contentType).Body(body)
	if opts.DryRun { // nobody typed it
		req.Param("dryRun", metav1.DryRunAll).WarningHandlerWithContext(quietWarnings{})
	}
	writing, done, err := writeContext(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var raw json.RawMessage
	if err := getJSON(writing, req, acceptJSON, &raw); err != nil {
		return nil, err
	}
	return decodeObject(raw, t)
}

// NamespaceType is the type of namespaces.
var NamespaceType = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}

// ForeignInSpec are the finalizers of others in the spec of a namespace, which metadata does not show:
// all but that of the namespace controller (NS-001).
func ForeignInSpec(namespace *unstructured.Unstructured) []string {
	all, _, _ := unstructured.NestedStringSlice(namespace.Object, "spec", "finalizers")
	return slices.DeleteFunc(all, func(name string) bool { return name == string(corev1.FinalizerKubernetes) })
}

// Finalize gives a namespace the spec.finalizers, and returns it as the server answers. It sends
// the whole object as it was read, since the subresource stores all of it but the status; with its
// uid and resourceVersion, which are the preconditions (NS-001, T-19). The error is the server's:
// Conflict if the namespace is another, or not as it was read.
func (c *Client) Finalize(ctx context.Context, live *unstructured.Unstructured, finalizers []string,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	if live.GetUID() == "" || live.GetResourceVersion() == "" {
		return nil, errors.New(
			"finalizing a namespace: it was read without its uid or its resourceVersion, and without them anything would be overwritten")
	}
	body := live.DeepCopy()
	if err := unstructured.SetNestedStringSlice(body.Object, append([]string{}, finalizers...), "spec",
		"finalizers"); err != nil {
		return nil, fmt.Errorf("finalizing namespace %q: %w", live.GetName(), err)
	}
	path := resourcePath(NamespaceType, "", live.GetName(), "finalize")
	return c.send(ctx, c.rest.Put().AbsPath(path...), acceptJSON, NamespaceType, body, opts)
}

// answerTime is for how long a write that is under way is waited for when nobody wants to go on.
const answerTime = 2 * time.Second

// writeContext returns the context of a write. A write that was sent and whose answer nobody waits
// for may have been done or not, and what is told of it would be a guess; so it outlives the
// context that it comes from by answerTime. The second result has to be called when the answer is
// there. The error is that of a context that has ended before: nothing is sent any more.
func writeContext(ctx context.Context) (context.Context, func(), error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	writing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(answerTime, func() { cancel(context.Cause(ctx)) })
	})
	return writing, func() {
		stop()
		cancel(nil)
	}, nil
}

var (
	mutatingWebhooks = graph.Type{Group: "admissionregistration.k8s.io", Version: "v1",
		Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"}
	mutatingPolicies = graph.Type{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies",
		Kind: "MutatingAdmissionPolicy"}

	// policyVersions are those in which mutating policies are served: v1 from 1.36 on, before that
	// another if it is turned on. What is read of them is the same in all of them.
	policyVersions = []string{"v1", "v1beta1", "v1alpha1"}
)

// Mutators names what may change an update of a type before it is stored, sorted: webhooks as
// configuration/webhook, and policies by their names (API-033). Namespaces and conditions that a
// webhook or policy is restricted to are not looked at, so it is a list of suspects. What cannot be
// read is not in it.
func (c *Client) Mutators(ctx context.Context, t graph.Type) []string {
	var names []string
	c.forEachReadable(ctx, mutatingWebhooks, func(o *unstructured.Unstructured) {
		hooks, _ := admission.Webhooks(o)
		for _, h := range hooks {
			if h.Covers(admissionv1.Update, t) {
				names = append(names, o.GetName()+"/"+h.Name)
			}
		}
	})
	mutating := func(o *unstructured.Unstructured) {
		if p, err := admission.ParsePolicy(o); err == nil && p.Covers(admissionv1.Update, t) {
			names = append(names, o.GetName())
		}
	}
	for _, version := range policyVersions {
		t := mutatingPolicies
		t.Version = version
		if c.forEachReadable(ctx, t, mutating) {
			break
		}
	}
	slices.Sort(names)
	return names
}

// forEachReadable reads the objects of a type of which there are few, and reports whether they can
// be read.
func (c *Client) forEachReadable(ctx context.Context, t graph.Type, f func(*unstructured.Unstructured)) bool {
	all, err := c.ListObjects(ctx, t, "", Selection{})
	if err != nil {
		return false
	}
	for _, o := range all {
		f(o)
	}
	return true
}
