package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// patchable makes a definition and returns the types that patches are tried on, a built-in and a
// custom one.
func patchable(t *testing.T, c *testcluster.Cluster) []graph.Type {
	t.Helper()
	c.Apply(t, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: patches.patch.example.com}
spec:
  group: patch.example.com
  scope: Namespaced
  names: {plural: patches, singular: patch, kind: Patched}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`)
	t.Cleanup(func() { uninstall(t, c, "patches", "patch.example.com") })
	return []graph.Type{configMapType,
		{Group: "patch.example.com", Version: "v1", Resource: "patches", Kind: "Patched", Namespaced: true}}
}

// TestPatchChangesWhatItTested_API031: a patch whose tests hold changes one entry of a list and
// nothing else; one whose tests do not hold is Invalid and changes nothing, on built-in and on
// custom resources. A dry run answers with what would be, and changes nothing.
func TestPatchChangesWhatItTested_API031(t *testing.T) { // not in parallel: it makes a type
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	remove := []PatchStep{{"test", "/metadata/finalizers/1", "example.com/b"},
		{Op: "remove", Path: "/metadata/finalizers/1"}}
	unblock := []PatchStep{
		{"test", "/metadata/ownerReferences/0/uid", "55555555-5555-5555-5555-555555555555"},
		{"add", "/metadata/ownerReferences/0/blockOwnerDeletion", false},
	}
	for _, typ := range patchable(t, c) {
		t.Run(typ.Kind, func(t *testing.T) {
			c.Apply(t, fmt.Sprintf(`apiVersion: %s
kind: %s
metadata:
  name: one
  namespace: %s
  finalizers: [example.com/a, example.com/b, example.com/c]
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: 55555555-5555-5555-5555-555555555555, blockOwnerDeletion: true}]
`, typ.APIVersion(), typ.Kind, ns))
			get := func() *graph.Object {
				o, err := client.GetMeta(t.Context(), typ, ns, "one")
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			was := get()
			for name, steps := range map[string][]PatchStep{
				"uid":             Unchanged("77777777-7777-7777-7777-777777777777", was.ResourceVersion),
				"resourceVersion": Unchanged(was.UID, "1"),
				"value":           {{"test", "/metadata/finalizers/1", "example.com/c"}},
			} {
				if _, err := client.Patch(t.Context(), typ, ns, "one", append(steps, remove...),
					PatchOptions{}); !apierrors.IsInvalid(err) {
					t.Errorf("another %s: %v, want Invalid", name, err)
				}
			}
			steps := append(Unchanged(was.UID, was.ResourceVersion), append(remove, unblock...)...)
			want := strings.Fields("example.com/a example.com/c")
			dry, err := client.Patch(t.Context(), typ, ns, "one", steps, PatchOptions{DryRun: true})
			if err != nil || !slices.Equal(dry.Finalizers, want) {
				t.Errorf("dry run: %+v, %v; want the finalizers %v", dry, err, want)
			}
			if now := get(); now.ResourceVersion != was.ResourceVersion {
				t.Errorf("after the dry run and what was refused: %+v, want %+v", now, was)
			}
			answer, err := client.Patch(t.Context(), typ, ns, "one", steps, PatchOptions{})
			t.Cleanup(func() {
				c.Kubectl(t, "patch", typ.Resource, "one", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			})
			if err != nil {
				t.Fatal(err)
			}
			now := get()
			if !slices.Equal(now.Finalizers, want) || len(now.Owners) != 1 || now.Owners[0].Block ||
				now.ResourceVersion != answer.ResourceVersion {
				t.Errorf("now %+v, answered %+v; want %v, and the reference not to block", now, answer, want)
			}
		})
	}
}
