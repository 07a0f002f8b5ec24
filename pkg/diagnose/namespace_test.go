package diagnose

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// withNamespaceController is a control plane on which namespaces are emptied.
func withNamespaceController(t testing.TB) *testcluster.Cluster {
	t.Helper()
	return testcluster.Another(t, "namespaces", testcluster.Controllers("namespace-controller"))
}

// withTypes gives one test after the other a control plane on which types come, go and break:
// whoever lists meanwhile sees gaps.
func withTypes(t testing.TB) *testcluster.Cluster {
	t.Helper()
	types.Lock()
	t.Cleanup(types.Unlock)
	return testcluster.Another(t, "types", testcluster.Controllers("namespace-controller"))
}

var types sync.Mutex

// until waits until kubectl prints a text.
func until(t testing.TB, c *testcluster.Cluster, text string, args ...string) {
	t.Helper()
	testcluster.Eventually(t, fmt.Sprintf("%s says %q", strings.Join(args, " "), text),
		func(ctx context.Context) (bool, error) {
			out, err := c.Try(ctx, "", args...)
			return err == nil && strings.Contains(out, text), nil
		})
}

// TestNamespaceWaitsForItsContent: the object in it that has a finalizer, and not the namespace.
func TestNamespaceWaitsForItsContent(t *testing.T) {
	t.Parallel()
	c := withNamespaceController(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "nobody.example.net/x")+fixture.ConfigMap(ns, "free"))
	fixture.Free(t, c, ns, "configmap/held")
	deleted(t, c, "namespace", ns)
	until(t, c, "nobody.example.net/x in 1 resource instances", "get", "namespace", ns, "-o", "json")
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + ns: {"FinalizerActorUnknown ConfigMap/held"}})
}

// TestConditionsLieWhilePodsRemain_NS021: only the pod is in the way, whatever the conditions say,
// and they are quoted. What comes up when it is deleted is said behind it.
func TestConditionsLieWhilePodsRemain_NS021(t *testing.T) {
	t.Parallel()
	c := withNamespaceController(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "untouched", "nobody.example.net/x")+
		fmt.Sprintf(
			"---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: %s, finalizers: [nobody.example.net/y]}\nspec: {containers: [{name: c, image: example.com/c}]}\n", ns))
	fixture.Free(t, c, ns, "pod/pod", "configmap/untouched")
	deleted(t, c, "namespace", ns)
	until(t, c, "All content successfully removed", "get", "namespace", ns, "-o", "json")
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" +
		ns: {"FinalizerActorUnknown Pod/pod", "FinalizerActorUnknown ConfigMap/untouched"}})
	if first, then := d.Stuck[0].Causes[0].After, d.Stuck[0].Causes[1].After; first != 0 || then != 1 {
		t.Errorf("the pod comes up after %d others, and what is behind it after %d", first, then)
	}
	wantEvidence(t, d.Stuck[0].Causes[0],
		`the namespace's condition says "All content successfully removed", and 2 objects are left`)
}

// TestFinalizersOfTheNamespace: entries of others in both of its lists.
func TestFinalizersOfTheNamespace(t *testing.T) {
	t.Parallel()
	c := withNamespaceController(t)
	for _, test := range []struct{ name, metadata, spec, want string }{
		{"metadata", "nobody.example.net/x", "", "FinalizerActorUnknown"},
		{"spec", "", "nobody.example.net/x", "NamespaceSpecFinalizer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			name := strings.ToLower("b03b-" + test.name)
			c.Apply(t, fmt.Sprintf(
				"apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, finalizers: [%s]}\nspec: {finalizers: [%s]}\n", name,
				test.metadata, test.spec))
			if test.spec != "" {
				t.Cleanup(func() { finalize(t, c, name) })
			}
			fixture.Free(t, c, "", "namespace/"+name)
			deleted(t, c, "namespace", name)
			testcluster.Eventually(t, "the namespace controller is done", func(ctx context.Context) (bool, error) {
				out, err := c.Try(ctx, "", "get", "namespace", name, "-o", "jsonpath={.spec.finalizers}")
				return !strings.Contains(out, `"kubernetes"`), err
			})
			d := examine(t, c.Config(), Options{}, name, subject{"namespaces/" + name, ""})
			wantCauses(t, d, map[string][]string{"Namespace/" + name: {test.want + " Namespace/" + name}})
			if f := d.Stuck[0].Causes[0].Finalizer; f != "nobody.example.net/x" {
				t.Errorf("it is about %q", f)
			}
		})
	}
}

// TestNamespaceControllerIsOff_NS010: nobody empties the namespace, and the commands do it, in the
// right order.
func TestNamespaceControllerIsOff_NS010(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "a")+fixture.ConfigMap(ns, "b"))
	deleted(t, c, "namespace", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + ns: {"NamespaceControllerNotActing Namespace/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "2 objects are left in it")
	if want := []string{
		"kubectl gc delete configmaps --all -n " + ns + " --gc=client",
		"kubectl gc unfinalize namespaces/" + ns + " --finalizer kubernetes --force",
	}; strings.Join(cause.Commands, "\n") != strings.Join(want, "\n") {
		t.Errorf("commands %q, want %q", cause.Commands, want)
	}
}

// TestCRDWaitsForItsInstances: the instance with a finalizer, in whatever namespace; and the API
// server itself when there is none left.
func TestCRDWaitsForItsInstances(t *testing.T) {
	// It takes more than 10 s beside others: the API server looks for instances at intervals before
	// it removes the finalizer of the definition.
	t.Parallel()
	c := withTypes(t)
	ns := c.Namespace(t)
	group := "b15.example.com"
	c.Apply(t, fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group))
	until(t, c, "widgets", "api-resources", "--api-group="+group)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: %s/v1\nkind: Widget\nmetadata: {name: held, namespace: %s, finalizers: [nobody.example.net/x]}\n",
		group, ns))
	deleted(t, c, "crd", "widgets."+group)
	// The condition InstanceDeletionInProgress comes before the first delete.
	until(t, c, "T", "get", "widgets."+group+"/held", "-n", ns, "-o", "jsonpath={.metadata.deletionTimestamp}")
	d := examine(t, c.Config(), Options{}, "",
		subject{"customresourcedefinitions.apiextensions.k8s.io/widgets." + group, ""})
	wantCauses(t, d, map[string][]string{"CustomResourceDefinition/widgets." +
		group: {"FinalizerActorUnknown Widget/held"}})
	fixture.Free(t, c, ns, "widgets."+group+"/held")
}
