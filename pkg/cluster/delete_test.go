package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var configMapType = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

// made creates a config map with finalizers and returns it as the server has it.
func made(t *testing.T, c *testcluster.Cluster, client *Client, namespace, name string,
	finalizers ...string) *graph.Object {
	t.Helper()
	c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, finalizers: [%s]}\n",
		name, namespace, strings.Join(finalizers, ", ")))
	o, err := client.GetMeta(t.Context(), configMapType, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestStoreDeletionPropagation_A01 goes through upstream's table (API-002, API-003): whichever of
// the collector's finalizers is on an object, the policy of the delete puts its own in its place,
// and background removes the object.
func TestStoreDeletionPropagation_A01(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, existing := range []string{"", "orphan", "foregroundDeletion"} {
		for policy, want := range map[string]string{"Background": "", "Foreground": "foregroundDeletion",
			"Orphan": "orphan"} {
			name := strings.ToLower("a01-" + existing + "-" + policy)
			o := made(t, c, client, ns, name, existing)
			if _, err := client.Delete(t.Context(), configMapType, ns, name, o.UID, DeleteOptions{Policy: policy}); err != nil {
				t.Fatal(err)
			}
			now, err := client.GetMeta(t.Context(), configMapType, ns, name)
			switch {
			case want == "" && !apierrors.IsNotFound(err):
				t.Errorf("%q deleted with %s: %v, %v; want it gone", existing, policy, now, err)
			case want != "" && (err != nil || !slices.Equal(now.Finalizers, []string{want}) || now.DeletionTimestamp == 0):
				t.Errorf("%q deleted with %s: %+v, %v; want it with %s", existing, policy, now, err, want)
			}
		}
	}
}

// TestStoreDeleteWithOrphanDependents_A02: the finalizers of others stay, in their order, and the
// policy's is put behind them.
func TestStoreDeleteWithOrphanDependents_A02(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"foo.com/x", "bar.com/y"}
	for policy, want := range map[string][]string{
		"Background": others, "Foreground": append(slices.Clone(others), "foregroundDeletion"),
		"Orphan": append(slices.Clone(others), "orphan"),
	} {
		name := strings.ToLower("a02-" + policy)
		o := made(t, c, client, ns, name, others...)
		answer, err := client.Delete(t.Context(), configMapType, ns, name, o.UID, DeleteOptions{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		now, err := client.GetMeta(t.Context(), configMapType, ns, name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(now.Finalizers, want) || !slices.Equal(answer.Finalizers, want) || !answer.Object {
			t.Errorf("%s: finalizers %v, answered %v, want %v", policy, now.Finalizers, answer.Finalizers, want)
		}
	}
}

// TestGracefulStoreHandleFinalizers_A03: an update that keeps the finalizer keeps the object, one
// that removes it deletes the object (API-020).
func TestGracefulStoreHandleFinalizers_A03(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	o := made(t, c, client, ns, "a03", "foo.com/x")
	if _, err := client.Delete(t.Context(), configMapType, ns, "a03", o.UID,
		DeleteOptions{Policy: "Background"}); err != nil {
		t.Fatal(err)
	}
	c.Kubectl(t, "label", "configmap", "a03", "-n", ns, "any=thing")
	if now, err := client.GetMeta(t.Context(), configMapType, ns, "a03"); err != nil || now.DeletionTimestamp == 0 {
		t.Errorf("after an update that keeps the finalizer: %+v, %v", now, err)
	}
	c.Kubectl(t, "patch", "configmap", "a03", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	if now, err := client.GetMeta(t.Context(), configMapType, ns, "a03"); !apierrors.IsNotFound(err) {
		t.Errorf("after an update that removes it: %+v, %v; want it gone", now, err)
	}
}

// TestPreconditionsAreKept_API015: another uid or another resourceVersion is a conflict, and a dry
// run changes nothing.
func TestPreconditionsAreKept_API015(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	o := made(t, c, client, ns, "one")
	for name, options := range map[string]struct {
		uid  string
		opts DeleteOptions
	}{
		"uid":             {"77777777-7777-7777-7777-777777777777", DeleteOptions{Policy: "Background"}},
		"resourceVersion": {o.UID, DeleteOptions{Policy: "Background", ResourceVersion: "1"}},
	} {
		if _, err := client.Delete(t.Context(), configMapType, ns, "one", options.uid,
			options.opts); !apierrors.IsConflict(err) {
			t.Errorf("another %s: %v, want a conflict", name, err)
		}
	}
	dry := DeleteOptions{Policy: "Background", DryRun: true}
	if _, err := client.Delete(t.Context(), configMapType, ns, "one", o.UID, dry); Unasked(err) == nil ||
		Unasked(err).Refused {
		t.Errorf("a dry run that nobody has said may be sent: %v, want that it is not sent", err)
	}
	client = client.Guarded(func(context.Context, graph.Type, string, string) error { return nil })
	if _, err := client.Delete(t.Context(), configMapType, ns, "one", o.UID, dry); err != nil {
		t.Errorf("dry run: %v", err)
	}
	if sent := client.DryRuns(); len(sent) != 1 || sent[0] != (DryRun{"DELETE", configMapType, ns}) {
		t.Errorf("the dry runs that were sent are %v", sent)
	}
	now, err := client.GetMeta(t.Context(), configMapType, ns, "one")
	if err != nil || now.ResourceVersion != o.ResourceVersion {
		t.Errorf("afterwards: %+v, %v; want it as it was", now, err)
	}
}

// TestACustomResourceMayHaveAnythingInTheFieldsOfAStatus: an object is answered when a finalizer
// keeps it, and its top-level fields are its own affair.
func TestACustomResourceMayHaveAnythingInTheFieldsOfAStatus(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: statuses.`+ns+`.example.com}
spec:
  group: `+ns+`.example.com
  scope: Namespaced
  names: {plural: statuses, singular: status, kind: Status}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	t.Cleanup(func() { uninstall(t, c, "statuses", ns+".example.com") })
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	statuses := graph.Type{Group: ns + ".example.com", Version: "v1", Resource: "statuses", Kind: "Status",
		Namespaced: true}
	for name, fields := range map[string]string{
		"text":       `{details: text, status: [Success]}`,
		"list":       `{details: [1, 2], status: {details: 7}}`,
		"number":     `{details: 7, status: Success}`,
		"like-a-uid": `{details: {uid: [x]}, status: Success, reason: {}}`,
	} {
		c.Apply(t, strings.Replace(fields, "{",
			"{apiVersion: "+ns+".example.com/v1, kind: Status, metadata: {name: "+name+", finalizers: [example.com/x]}, ", 1),
			"-n", ns)
		o, err := client.GetMeta(t.Context(), statuses, ns, name)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Delete(t.Context(), statuses, ns, name, o.UID, DeleteOptions{Policy: "Foreground"})
		if err != nil || !answer.Object || answer.Gone || !slices.Contains(answer.Finalizers, "foregroundDeletion") {
			t.Errorf("%s: answer %+v, %v; want the object with the finalizer foregroundDeletion", name, answer, err)
		}
		c.Kubectl(t, "patch", "statuses."+ns+".example.com", name, "-n", ns, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
	}
}

// TestTheAnswerToADeleteIsAboutTheObject: a Status of the server or the object itself. Anything
// else leaves it open whether the object was deleted.
func TestTheAnswerToADeleteIsAboutTheObject(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Deleted{
		`{"apiVersion":"v1","kind":"Status","status":"Success","details":{"uid":"u"}}`:                                 {Gone: true},
		`{"apiVersion":"v1","kind":"Status","status":"Success"}`:                                                       {},
		`{"apiVersion":"v1","kind":"Status","status":"Success","details":"text"}`:                                      {},
		`{"apiVersion":"a.example.com/v1","kind":"Status","metadata":{"uid":"u"},"status":{"x":1},"details":"a text"}`: {Object: true},
		`{"kind":"Widget","metadata":{"uid":"u","finalizers":["orphan"]},"details":["a"]}`:                             {Object: true, Finalizers: []string{"orphan"}},
		`{"kind":"Widget","metadata":{"uid":"u"},"Metadata":"text","Kind":"Status"}`:                                   {Object: true},
	} {
		if got, err := readDeleted([]byte(raw), "u"); err != nil || got.Gone != want.Gone || got.Object != want.Object ||
			!slices.Equal(got.Finalizers, want.Finalizers) {
			t.Errorf("%s: %+v, %v; want %+v", raw, got, err, want)
		}
	}
	for _, raw := range []string{
		``, `not found`, `["u"]`, `"u"`, `null`, `{}`, `{"kind":"List","items":[]}`, `{"kind":"Widget","metadata":"text"}`,
		`{"kind":"Widget","metadata":{"uid":"v"}}`,
		`{"apiVersion":"v1","kind":"Status","status":"Success","details":{"uid":"v"}}`,
		`{"apiVersion":"v1","kind":"Status","status":"Failure","details":{"uid":"u"}}`,
		`{"apiVersion":"a.example.com/v1","kind":"Status","status":"Success","details":{"uid":"u"}}`,
	} {
		if got, err := readDeleted([]byte(raw), "u"); err == nil {
			t.Errorf("%q: %+v, want an error", raw, got)
		}
	}
}
