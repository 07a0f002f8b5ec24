package check_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

func manifests(t *testing.T, text string) []selection.Manifest {
	var all []selection.Manifest
	for _, document := range strings.Split(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		all = append(all, selection.Manifest{Object: o, Source: "file.yaml"})
	}
	return all
}

// TestManifestsAreCheckedWithoutAServer by what they say of each other, and by what every server
// serves.
func TestManifestsAreCheckedWithoutAServer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files string
		want  []string
	}{
		"nothing": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", nil},
		"an owner of which nothing is known": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: example.com/v1, kind: Thing, name: o, uid: u}]}}", []string{"x[0] OwnerNotChecked Unknown"}},
		"no uid": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Secret, name: o}]}}",
			[]string{"x[0] ReferenceInvalid Reject"}},
		"an event": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Event, name: o, uid: u}]}}", []string{"x[0] ReferenceInvalid Reject"}},
		"a namespaced owner of a cluster-scoped object": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: o, uid: u}]}}",
			[]string{"x[0] WrongScope KeepObject"}},
		"an owner in the files": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Secret, name: o, uid: u}]}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: o}}",
			[]string{"x[0] OwnerInFile Unknown"}},
		"an owner in another namespace": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: a, ownerReferences: [{apiVersion: v1, kind: Secret, name: o, uid: u}]}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: o, namespace: b}}",
			[]string{"x[0] WrongNamespace DeleteObject"}},
		"another name for the uid": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Secret, name: p, uid: u}]}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: o, uid: u}}",
			[]string{"x[0] WrongName DeleteObject"}},
		"itself": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: u}]}}", []string{"x[0] SelfReference KeepObject"}},
		"a circle": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Secret, name: z, uid: u}]}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: z, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: v}]}}",
			[]string{"x[0] OwnershipCycle KeepObject", "z[0] OwnershipCycle KeepObject"}},
		"one uid twice": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Secret, name: o, uid: u}, {apiVersion: v1, kind: Secret, name: p, uid: u}]}}",
			[]string{"x[0] OwnerNotChecked Unknown", "x[1] DuplicateReference None", "x[1] OwnerNotChecked Unknown"}},
		"two controllers": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Secret, name: o, uid: u, controller: true}, {apiVersion: v1, kind: Secret, name: p, uid: v, controller: true}]}}",
			[]string{"x[0] OwnerNotChecked Unknown", "x[1] SeveralControllers Reject", "x[1] OwnerNotChecked Unknown"}},
		"a CRD in the files says the scope": {
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {group: example.com, scope: Cluster, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true}]}}\n---\n" +
				"{apiVersion: example.com/v1, kind: Thing, metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: Secret, name: o, uid: u}]}}",
			[]string{"x[0] WrongScope KeepObject"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := check.Local(manifests(t, test.files), "default")
			if got := lines(report.Findings); !slices.Equal(got, test.want) && len(got)+len(test.want) > 0 {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			for _, f := range report.Findings {
				if f.File != "file.yaml" || len(f.Commands) > 0 || strings.Contains(f.Object.UID, "manifest") ||
					f.OwnerReference == nil {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
