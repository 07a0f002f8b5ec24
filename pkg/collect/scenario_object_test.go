package collect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

type object = unstructured.Unstructured

var (
	background = propagation(plan.Background)
	foreground = propagation(plan.Foreground)
	orphan     = propagation(plan.Orphan)
)

// scenarioTypes are what the scenarios are made of, by kind.
var scenarioTypes = func() map[string]graph.Type {
	types := map[string]graph.Type{}
	for _, t := range []graph.Type{
		{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true},
		{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true},
		{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true},
		{Version: "v1", Resource: "replicationcontrollers", Kind: "ReplicationController", Namespaced: true},
		{Version: "v1", Resource: "nodes", Kind: "Node"},
		{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume"},
		{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true},
		{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true},
		{Group: "batch", Version: "v1", Resource: "jobs", Kind: "Job", Namespaced: true},
		{Group: "batch", Version: "v1", Resource: "cronjobs", Kind: "CronJob", Namespaced: true},
		{Group: "scenario.example.com", Version: "v1", Resource: "gadgets", Kind: "Gadget", Namespaced: true},
		{Group: "scenario.example.com", Version: "v1", Resource: "clustergadgets", Kind: "ClusterGadget"},
		{Group: "apart.example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true},
	} {
		types[t.Kind] = t
	}
	return types
}()

const podSpec = `"containers":[{"name":"c","image":"i"}]`

// specs are the least that the server takes.
var specs = map[string]string{
	"Pod": `{` + podSpec + `}`,
	"ReplicationController": `{"replicas":0,"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` +
		podSpec + `}}}`,
	"Deployment": `{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + podSpec + `}}}`,
	"ReplicaSet": `{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + podSpec + `}}}`,
	"Job":        `{"template":{"spec":{"restartPolicy":"Never",` + podSpec + `}}}`,
	"CronJob": `{"schedule":"0 0 1 1 *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never",` +
		podSpec + `}}}}}`,
	"PersistentVolume": `{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/nowhere"}}`,
}

// by gives an object owners.
func by(refs ...metav1.OwnerReference) func(*object) {
	return func(o *object) { o.SetOwnerReferences(refs) }
}

// held gives an object finalizers.
func held(finalizers ...string) func(*object) {
	return func(o *object) { o.SetFinalizers(finalizers) }
}

// in puts an object into another namespace.
func in(namespace string) func(*object) {
	return func(o *object) { o.SetNamespace(namespace) }
}

// as says in which version an object is created.
func as(version string) func(*object) {
	return func(o *object) { o.SetAPIVersion(o.GroupVersionKind().Group + "/" + version) }
}

// owner is a reference to an object.
func owner(o *object) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID()}
}

// blocking is a reference to an object that makes it wait.
func blocking(o *object) metav1.OwnerReference {
	r, yes := owner(o), true
	r.BlockOwnerDeletion = &yes
	return r
}

// controlled is the reference that a controller gives to what it makes.
func controlled(o *object) metav1.OwnerReference {
	r, yes := blocking(o), true
	r.Controller = &yes
	return r
}

// nonBlocking is a reference to an object that says that it need not wait.
func nonBlocking(o *object) metav1.OwnerReference {
	r, no := owner(o), false
	r.BlockOwnerDeletion = &no
	return r
}

// absent is a reference to an object that has never been.
func absent(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name,
		UID: types.UID("absent-" + strings.ToLower(kind) + "-" + name)}
}

// reworded is a reference to the same uid under another version and kind.
func reworded(r metav1.OwnerReference, apiVersion, kind string) metav1.OwnerReference {
	r.APIVersion, r.Kind = apiVersion, kind
	return r
}

func propagation(p plan.Policy) metav1.DeleteOptions {
	policy := metav1.DeletionPropagation(p)
	return metav1.DeleteOptions{PropagationPolicy: &policy}
}

// orphanDependents is the deprecated way to say a policy.
func orphanDependents(orphan bool) metav1.DeleteOptions {
	return metav1.DeleteOptions{OrphanDependents: &orphan} //nolint:staticcheck // deprecated: upstream's tests set the policy this way, and the server accepts it
}

func (s *stage) resource(kind, namespace string) dynamic.ResourceInterface {
	t := scenarioTypes[kind]
	r := s.api.Resource(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource})
	if t.Namespaced {
		return r.Namespace(namespace)
	}
	return r
}

func (s *stage) client(o *object) dynamic.ResourceInterface {
	return s.resource(o.GetKind(), o.GetNamespace())
}

// create makes an object. A cluster-scoped one has the namespace's name before its own, and goes
// with the test.
func (s *stage) create(kind, name string, with ...func(*object)) *object {
	s.Helper()
	o := s.draft(kind, name, with...)
	version := o.GroupVersionKind().Version
	t := scenarioTypes[kind]
	client := dynamic.ResourceInterface(s.api.Resource(schema.GroupVersionResource{Group: t.Group, Version: version,
		Resource: t.Resource}))
	if t.Namespaced {
		client = client.(dynamic.NamespaceableResourceInterface).Namespace(o.GetNamespace())
	}
	created, err := client.Create(s.Context(), o, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("creating %s %s: %v", kind, name, err)
	}
	if !t.Namespaced {
		s.Cleanup(func() { s.discard(created) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.kinds, kind) {
		s.kinds = append(s.kinds, kind)
	}
	s.unknown = true
	return created
}

func (s *stage) draft(kind, name string, with ...func(*object)) *object {
	t := scenarioTypes[kind]
	o := &object{Object: map[string]any{}}
	o.SetAPIVersion(t.APIVersion())
	o.SetKind(kind)
	o.SetName(name)
	if t.Namespaced {
		o.SetNamespace(s.ns)
	} else {
		o.SetName(s.ns + "-" + name)
	}
	if spec := specs[kind]; spec != "" {
		var v any
		if err := json.Unmarshal([]byte(spec), &v); err != nil {
			s.Fatal(err)
		}
		o.Object["spec"] = v
	}
	for _, f := range with {
		f(o)
	}
	return o
}

// namespace makes one more namespace, whose name begins with that of the stage's.
func (s *stage) namespace(name string) string {
	s.Helper()
	o := &object{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": s.ns + "-" + name}}}
	client := s.api.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if _, err := client.Create(s.Context(), o, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = client.Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}) })
	return o.GetName()
}

// discard removes a cluster-scoped object, which no namespace takes along.
func (s *stage) discard(o *object) {
	ctx := context.Background()
	_, _ = s.client(o).Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
		metav1.PatchOptions{})
	_ = s.client(o).Delete(ctx, o.GetName(), background)
}

// delete deletes an object as the collector knows of it and of all others.
func (s *stage) delete(o *object, opts metav1.DeleteOptions) {
	s.Helper()
	s.observe()
	uid := o.GetUID()
	opts.Preconditions = &metav1.Preconditions{UID: &uid}
	if err := s.client(o).Delete(s.Context(), o.GetName(), opts); err != nil {
		s.Errorf("deleting %s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

// observe waits until the collector knows of all that was created.
func (s *stage) observe() {
	s.Helper()
	s.mu.Lock()
	unknown := s.unknown
	s.unknown = false
	s.mu.Unlock()
	if unknown {
		s.collector.observe(s)
	}
}

// patch merges into an object's metadata.
func (s *stage) patch(o *object, metadata map[string]any) {
	s.Helper()
	raw, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := s.client(o).Patch(s.Context(), o.GetName(), types.MergePatchType, raw,
		metav1.PatchOptions{}); err != nil {
		s.Errorf("patching %s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

// own gives an object other owners.
func (s *stage) own(o *object, refs ...metav1.OwnerReference) {
	s.Helper()
	s.patch(o, map[string]any{"ownerReferences": refs})
}

// release takes finalizers of others off.
func (s *stage) release(o *object) {
	s.Helper()
	now, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	left := []string{}
	for _, f := range now.GetFinalizers() {
		if f == plan.OrphanFinalizer || f == plan.ForegroundFinalizer {
			left = append(left, f)
		}
	}
	s.patch(o, map[string]any{"finalizers": left, "uid": o.GetUID()})
}

// now reads an object; it is nil if it is gone, also if another has its name.
func (s *stage) now(ctx context.Context, o *object) (*object, error) {
	now, err := s.client(o).Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && now.GetUID() != o.GetUID() {
		return nil, nil
	}
	return now, err
}

// gone expects that objects are no more.
func (s *stage) gone(objects ...*object) expectation {
	return func(ctx context.Context) (string, error) {
		for _, o := range objects {
			now, err := s.now(ctx, o)
			if err != nil {
				return "", err
			}
			if now != nil {
				return fmt.Sprintf("%s %s is still there, deleted %v, finalizers %v, owners %v", o.GetKind(), o.GetName(),
					now.GetDeletionTimestamp(), now.GetFinalizers(), names(now)), nil
			}
		}
		return "", nil
	}
}

// stays expects that an object is there, is not being deleted and has these owners and no others.
func (s *stage) stays(o *object, owners ...*object) expectation {
	want := []string{}
	for _, owner := range owners {
		want = append(want, owner.GetName())
	}
	return s.expect(o, func(now *object) string {
		if now.GetDeletionTimestamp() != nil || !slices.Equal(names(now), want) {
			return fmt.Sprintf("deleted %v, owners %v, want none and %v", now.GetDeletionTimestamp(), names(now), want)
		}
		return ""
	})
}

// untouched expects that an object is as it was created.
func (s *stage) untouched(objects ...*object) expectation {
	return func(ctx context.Context) (string, error) {
		for _, o := range objects {
			wrong, err := s.expect(o, func(now *object) string {
				if now.GetResourceVersion() != o.GetResourceVersion() {
					return fmt.Sprintf("was changed: deleted %v, finalizers %v, owners %v", now.GetDeletionTimestamp(),
						now.GetFinalizers(), names(now))
				}
				return ""
			})(ctx)
			if wrong != "" || err != nil {
				return wrong, err
			}
		}
		return "", nil
	}
}

// deleting expects that an object is there, is being deleted and has these finalizers and no
// others, in any order.
func (s *stage) deleting(o *object, finalizers ...string) expectation {
	return s.expect(o, func(now *object) string {
		if now.GetDeletionTimestamp() == nil || !sameSet(now.GetFinalizers(), finalizers) {
			return fmt.Sprintf("deleted %v, finalizers %v, want a time and %v", now.GetDeletionTimestamp(), now.GetFinalizers(),
				finalizers)
		}
		return ""
	})
}

// expect expects something of an object that is there.
func (s *stage) expect(o *object, wrong func(now *object) string) expectation {
	return func(ctx context.Context) (string, error) {
		now, err := s.now(ctx, o)
		if err != nil {
			return "", err
		}
		what := "is gone"
		if now != nil {
			if what = wrong(now); what == "" {
				return "", nil
			}
		}
		return fmt.Sprintf("%s %s: %s", o.GetKind(), o.GetName(), what), nil
	}
}

func names(o *object) []string {
	owners := []string{}
	for _, r := range o.GetOwnerReferences() {
		owners = append(owners, r.Name)
	}
	return owners
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
