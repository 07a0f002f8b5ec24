package unfinalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// testContext is what Eventually hands to what it waits for.
type testContext = context.Context

// dryRun has the server store nothing.
var dryRun = cluster.PatchOptions{DryRun: true}

// hold is a finalizer that nobody removes.
const hold = "example.com/hold"

var (
	configMapType = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	secretType    = graph.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	podType       = graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	heldType      = graph.Type{Group: "unfinalize.example.com", Version: "v1", Resource: "helds", Kind: "Held",
		Namespaced: true}
)

const heldDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helds.unfinalize.example.com}
spec:
  group: unfinalize.example.com
  scope: Namespaced
  names: {plural: helds, singular: held, kind: Held}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// fixture is a namespace with what a test makes in it.
type fixture struct {
	t         *testing.T
	c         *testcluster.Cluster
	namespace string
	dynamic   dynamic.Interface
	client    *cluster.Client
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := testcluster.Shared(t)
	d, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, c: c, namespace: c.Namespace(t), dynamic: d, client: connect(t, c.Config())}
	f.custom()
	return f
}

func connect(t *testing.T, config *rest.Config) *cluster.Client {
	t.Helper()
	client, err := cluster.New(config, 0)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// custom serves the type of custom objects. It is there before the first test, as one that comes is
// a gap for whoever is listing.
func (f *fixture) custom() {
	f.t.Helper()
	served.Do(func() {
		f.c.Apply(f.t, heldDefinition)
	})
}

var served sync.Once

func (f *fixture) of(t graph.Type) dynamic.ResourceInterface {
	r := f.dynamic.Resource(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource})
	if !t.Namespaced {
		return r
	}
	return r.Namespace(f.namespace)
}

// make makes an object of a type with finalizers. At the end of the test they are removed, with the
// deletion that waits for them.
func (f *fixture) make(t graph.Type, name string, finalizers ...string) *unstructured.Unstructured {
	f.t.Helper()
	return f.create(t, map[string]any{"metadata": map[string]any{"name": name, "finalizers": list2any(finalizers)}})
}

func list2any(list []string) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}

func (f *fixture) create(t graph.Type, object map[string]any) *unstructured.Unstructured {
	f.t.Helper()
	o := &unstructured.Unstructured{Object: object}
	o.SetAPIVersion(t.APIVersion())
	o.SetKind(t.Kind)
	made, err := f.of(t).Create(f.t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { f.free(t, made.GetName()) })
	return made
}

// free removes the finalizers of an object that a test has left.
func (f *fixture) free(t graph.Type, name string) {
	ctx := context.Background()
	patch := []byte(`{"metadata":{"finalizers":null,"ownerReferences":null}}`)
	_, _ = f.of(t).Patch(ctx, name, "application/merge-patch+json", patch, metav1.PatchOptions{})
	zero := int64(0)
	_ = f.of(t).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
}

// delete deletes an object with a policy.
func (f *fixture) delete(t graph.Type, name string, policy metav1.DeletionPropagation) {
	f.t.Helper()
	if err := f.of(t).Delete(f.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		f.t.Fatal(err)
	}
}

// get reads an object, nil if it is gone.
func (f *fixture) get(t graph.Type, name string) *unstructured.Unstructured {
	f.t.Helper()
	namespace := f.namespace
	if !t.Namespaced {
		namespace = ""
	}
	o, err := f.client.GetObject(f.t.Context(), t, namespace, name)
	switch {
	case cluster.IsAbsent(err, t, name):
		return nil
	case err != nil:
		f.t.Fatal(err)
	}
	return o
}

// is fails the test unless an object has exactly these finalizers; none at all means that it is
// gone.
func (f *fixture) is(t graph.Type, name string, want ...string) {
	f.t.Helper()
	o := f.get(t, name)
	switch {
	case o == nil && len(want) > 0:
		f.t.Errorf("%s is gone, want the finalizers %v", name, want)
	case o != nil && (len(want) == 0 || !slices.Equal(o.GetFinalizers(), want)):
		f.t.Errorf("%s has the finalizers %v, want %v", name, o.GetFinalizers(), want)
	}
}

// lives says the same of all actors.
type lives map[string]actor.Actor

func (l lives) Stopped(context.Context) ([]string, error) { return nil, nil }

func (l lives) Judge(_ context.Context, _ *unstructured.Unstructured, name string) (actor.Actor, error) {
	a, known := l[name]
	if !known {
		a.Life, a.Found = actor.Dead, true
	}
	a.Finalizer = name
	return a, nil
}

// judge assesses objects.
func (f *fixture) judge(client *cluster.Client, t graph.Type, finalizers []string, objects ...string) []*Candidate {
	f.t.Helper()
	return f.judgeBy(newAssessor(client, lives{}), t, finalizers, objects...)
}

func (f *fixture) judgeBy(j *Assessor, t graph.Type, finalizers []string, objects ...string) []*Candidate {
	f.t.Helper()
	var targets []Target
	for _, name := range objects {
		target := Target{Type: t, Name: name}
		if t.Namespaced {
			target.Namespace = f.namespace
		}
		targets = append(targets, target)
	}
	candidates, errs := j.Candidates(f.t.Context(), targets,
		func(*unstructured.Unstructured) []string { return finalizers })
	if err := errors.Join(errs...); err != nil {
		f.t.Fatal(err)
	}
	return candidates
}

// perform performs candidates one after the other.
func (f *fixture) perform(client *cluster.Client, opts Options, candidates ...*Candidate) []*Outcome {
	f.t.Helper()
	return f.performOn(client, Overrides{}, opts, candidates...)
}

// performOn performs candidates with some overrides.
func (f *fixture) performOn(client *cluster.Client, overrides Overrides, opts Options,
	candidates ...*Candidate) []*Outcome {
	f.t.Helper()
	p := &Planned{Overrides: overrides}
	for _, c := range candidates {
		p.Batches = append(p.Batches, []*Candidate{c})
	}
	return Perform(f.t.Context(), client, p, opts)
}

// says describes what came of a candidate in one line.
func says(o *Outcome) string {
	var parts []string
	for _, d := range o.Done {
		parts = append(parts, fmt.Sprintf("%s %s %s", d.Verb, d.Object.Name, strings.Join(d.Finalizers, ",")))
	}
	slices.Sort(parts)
	switch {
	case o.Err != nil:
		parts = append(parts, "error: "+o.Err.Error())
	case o.Gone:
		parts = append(parts, "gone")
	default:
		var left []string
		for _, h := range o.Remaining {
			left = append(left, h.Name)
		}
		parts = append(parts, "left: "+strings.Join(left, ","))
	}
	return strings.Join(parts, "; ")
}

// want fails the test unless the outcome is described so.
func want(t *testing.T, o *Outcome, line string) {
	t.Helper()
	if got := says(o); got != line {
		t.Errorf("%s: %s\nwant: %s", o.Candidate.Ref.Name, got, line)
	}
}

// codes are the refusals of a candidate that the overrides do not cover.
func codes(c *Candidate, overrides Overrides) []Code {
	var all []Code
	for _, v := range c.Assessments {
		for _, r := range v.Against(overrides) {
			all = append(all, r.Code)
		}
	}
	return all
}
