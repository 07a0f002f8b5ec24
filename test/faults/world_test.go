package faults

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const crdGroup = "faults.example.com"

// kinds are the types of the objects that a world is made of, by the word that it is described
// with.
var kinds = map[string]struct {
	schema.GroupVersionResource
	kind      string
	clustered bool
}{
	"cm": {GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
		kind: "ConfigMap"},
	"secret": {GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, kind: "Secret"},
	"lease": {GroupVersionResource: schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1",
		Resource: "leases"}, kind: "Lease"},
	"widget": {GroupVersionResource: schema.GroupVersionResource{Group: crdGroup, Version: "v1", Resource: "widgets"},
		kind: "Widget"},
	"clusterrole": {GroupVersionResource: schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1",
		Resource: "clusterroles"}, kind: "ClusterRole", clustered: true},
}

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.faults.example.com}
spec:
  group: faults.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// define makes the type of the widgets, once in a control plane.
func define(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	c.Apply(t, widgets)
}

// object is what is known of an object of a world.
type object struct {
	uid, version string
	deleting     bool
	finalizers   []string
	owners       []metav1.OwnerReference
}

// state is what there is, by kind and name, such as "cm/root".
type state map[string]object

// world is a namespace, with objects in it and beside it that belong to one run at a time.
type world struct {
	t         *testing.T
	namespace string
	objects   dynamic.Interface
	metadata  metadata.Interface
	// uids of those that were made, by kind and name.
	uids map[string]types.UID
	// made is what there was when all was made.
	made state
	// spare is a namespace besides, if the world has one; it is another one each time, since its
	// deletion has begun.
	spare string
	// kubeconfig is that of the server itself, and archive the file of what the world had before,
	// if the world has lost something.
	kubeconfig, archive string
}

func newWorld(t *testing.T, c *testcluster.Cluster) *world {
	t.Helper()
	objects, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	meta, err := metadata.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, objects: objects, metadata: meta, kubeconfig: c.Kubeconfig(), archive: t.TempDir() + "/lost.yaml"}
	w.namespace = w.makeNamespace()
	return w
}

// makeNamespace makes one, with a name of which no other is a part.
func (w *world) makeNamespace() string {
	w.t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"generateName": "faults-"}}}
	made, err := w.objects.Resource(namespaces).Create(w.t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return made.GetName()
}

// blueprint says what a world is made of.
type blueprint struct {
	// objects are lines of "kind/name [label] < owner owner+ | finalizer", where + is for an owner
	// that it blocks; an owner that no line makes is absent.
	objects []string
	// lost are objects that are not there any more, but in an archive. The first one owns the
	// others.
	lost []string
	// deleted are the objects whose deletion has begun, by policy.
	deleted map[metav1.DeletionPropagation][]string
	// spare are objects in a second namespace, whose deletion has begun; nil for no such namespace.
	spare []string
}

// build makes a world anew, unless it is still as it was made.
func (w *world) build(b blueprint) {
	w.t.Helper()
	if w.made != nil && maps.EqualFunc(w.made, w.read(),
		func(a, b object) bool { return a.uid == b.uid && a.version == b.version }) {
		return
	}
	w.clear()
	w.uids = map[string]types.UID{}
	w.create(w.namespace, b.objects)
	if len(b.lost) > 0 {
		w.lose(b.lost)
	}
	for policy, names := range b.deleted {
		for _, name := range names {
			if err := w.client(name).Delete(w.t.Context(), w.name(name),
				metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if b.spare != nil {
		w.spare = w.makeNamespace()
		w.create(w.spare, b.spare)
		if err := w.objects.Resource(namespaces).Delete(w.t.Context(), w.spare, metav1.DeleteOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.made = w.read()
}

// lose archives an object with what it owns, and deletes some of that.
func (w *world) lose(keys []string) {
	w.t.Helper()
	if err := os.RemoveAll(w.archive); err != nil {
		w.t.Fatal(err)
	}
	root := kinds[strings.Split(keys[0], "/")[0]].Resource + "/" + w.name(keys[0])
	if code, stdout, stderr := script.InProcess(w.t.Context(), "", "archive", root, "-n", w.namespace, "--to", w.archive,
		"--kubeconfig", w.kubeconfig); code != 0 {
		w.t.Fatalf("archiving %s: exit code %d: %s%s", root, code, stdout, stderr)
	}
	w.remove(w.t.Context(), keys)
}

// create makes objects, owners first.
func (w *world) create(namespace string, lines []string) {
	w.t.Helper()
	will := map[string]bool{}
	for _, line := range lines {
		will[strings.Fields(line)[0]] = true
	}
	for rest := lines; len(rest) > 0; {
		var later, now []string
		for _, line := range rest {
			ready := true
			_, owners, _ := strings.Cut(strings.Split(line, "|")[0], "<")
			for _, owner := range strings.Fields(owners) {
				owner = strings.TrimSuffix(owner, "+")
				ready = ready && (w.uids[owner] != "" || !will[owner])
			}
			if ready {
				now = append(now, line)
			} else {
				later = append(later, line)
			}
		}
		made := make([]types.UID, len(now))
		var group errgroup.Group
		for i, line := range now {
			group.Go(func() error {
				var err error
				made[i], err = w.make(namespace, line)
				return err
			})
		}
		if err := group.Wait(); err != nil || len(now) == 0 {
			w.t.Fatalf("making %q: %v", now, err)
		}
		for i, line := range now {
			w.uids[strings.Fields(line)[0]] = made[i]
		}
		rest = later
	}
}

func (w *world) make(namespace, line string) (types.UID, error) {
	line, finalizers, _ := strings.Cut(line, "|")
	line, owners, _ := strings.Cut(line, "<")
	key, label, _ := strings.Cut(strings.TrimSpace(line), " ")
	word, _, _ := strings.Cut(key, "/")
	k := kinds[word]
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(k.GroupVersion().String())
	o.SetKind(k.kind)
	o.SetName(w.name(key))
	if label != "" {
		o.SetLabels(map[string]string{"app": strings.Trim(label, "[] ")})
	}
	if k.clustered {
		o.SetLabels(map[string]string{"faults": namespace})
	}
	o.SetFinalizers(strings.Fields(finalizers))
	var refs []metav1.OwnerReference
	for _, owner := range strings.Fields(owners) {
		owner, blocks := strings.CutSuffix(owner, "+")
		word, _, _ := strings.Cut(owner, "/")
		uid := w.uids[owner]
		if uid == "" {
			uid = types.UID("of-" + strings.ReplaceAll(owner, "/", "-")) // and of nobody
		}
		of := kinds[word]
		refs = append(refs, metav1.OwnerReference{APIVersion: of.GroupVersion().String(), Kind: of.kind, Name: w.name(owner),
			UID: uid, BlockOwnerDeletion: &blocks})
	}
	o.SetOwnerReferences(refs)
	client := w.objects.Resource(k.GroupVersionResource).Namespace(namespace)
	if k.clustered {
		client = nil
	}
	var made *unstructured.Unstructured
	var err error
	if client != nil {
		made, err = client.Create(w.t.Context(), o, metav1.CreateOptions{})
	} else {
		made, err = w.objects.Resource(k.GroupVersionResource).Create(w.t.Context(), o, metav1.CreateOptions{})
	}
	if err != nil {
		return "", err
	}
	return made.GetUID(), nil
}

// name is that of an object: one in no namespace is named after this one.
func (w *world) name(key string) string {
	word, name, _ := strings.Cut(key, "/")
	if kinds[word].clustered {
		return w.namespace + "-" + name
	}
	return name
}

func (w *world) client(key string) dynamic.ResourceInterface {
	word, _, _ := strings.Cut(key, "/")
	k := kinds[word]
	if k.clustered {
		return w.objects.Resource(k.GroupVersionResource)
	}
	return w.objects.Resource(k.GroupVersionResource).Namespace(w.namespace)
}

// read asks the server what there is.
func (w *world) read() state {
	w.t.Helper()
	ctx := context.Background()
	s := state{}
	add := func(key string, o metav1.PartialObjectMetadata) {
		for i := range o.OwnerReferences {
			o.OwnerReferences[i].Name = strings.TrimPrefix(o.OwnerReferences[i].Name, w.namespace+"-")
		}
		s[key] = object{uid: string(o.UID), version: o.ResourceVersion, deleting: o.DeletionTimestamp != nil,
			finalizers: o.Finalizers, owners: o.OwnerReferences}
	}
	for word, k := range kinds {
		resource := metadata.ResourceInterface(w.metadata.Resource(k.GroupVersionResource))
		opts := metav1.ListOptions{LabelSelector: "faults=" + w.namespace}
		if !k.clustered {
			resource, opts = w.metadata.Resource(k.GroupVersionResource).Namespace(w.namespace), metav1.ListOptions{}
		}
		found, err := resource.List(ctx, opts)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, o := range found.Items {
			add(word+"/"+strings.TrimPrefix(o.Name, w.namespace+"-"), o)
		}
	}
	if w.spare != "" {
		o, err := w.metadata.Resource(namespaces).Get(ctx, w.spare, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			w.t.Fatal(err)
		}
		if err == nil {
			add("namespace/spare", *o)
		}
	}
	return s
}

// clear deletes what there is.
func (w *world) clear() {
	w.t.Helper()
	ctx := context.Background()
	w.remove(ctx, slices.DeleteFunc(slices.Collect(maps.Keys(w.read())),
		func(key string) bool { return key == "namespace/spare" }))
	if w.spare != "" {
		w.clearSpare(ctx)
	}
	w.made = nil
}

// remove deletes objects, whatever they own and whoever wants to be asked.
func (w *world) remove(ctx context.Context, keys []string) {
	w.t.Helper()
	var group errgroup.Group
	now := int64(0)
	background := metav1.DeletePropagationBackground
	for _, key := range keys {
		group.Go(func() error {
			client, name := w.client(key), w.name(key)
			_, err := client.Patch(ctx, name, types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null,"ownerReferences":null}}`), metav1.PatchOptions{})
			if err == nil {
				err = client.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background})
			}
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		w.t.Fatal(err)
	}
}

// clearSpare empties the second namespace and finalizes it.
func (w *world) clearSpare(ctx context.Context) {
	w.t.Helper()
	for _, k := range kinds {
		if k.clustered {
			continue
		}
		if err := w.objects.Resource(k.GroupVersionResource).Namespace(w.spare).DeleteCollection(ctx, metav1.DeleteOptions{},
			metav1.ListOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	o, err := w.objects.Resource(namespaces).Get(ctx, w.spare, metav1.GetOptions{})
	if err == nil {
		unstructured.RemoveNestedField(o.Object, "spec", "finalizers")
		_, err = w.objects.Resource(namespaces).Update(ctx, o, metav1.UpdateOptions{}, "finalize")
	}
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
	w.spare = ""
}

// words describe a state without what is different in every world: an object in a line.
func (s state) words() map[string]string {
	lines := map[string]string{}
	for key, o := range s {
		line := key
		if o.deleting {
			line += " deleting"
		}
		var owners []string // in any order
		for _, ref := range o.owners {
			owner := " <" + ref.Kind + "/" + ref.Name
			if ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion {
				owner += "+"
			}
			owners = append(owners, owner)
		}
		slices.Sort(owners)
		line += strings.Join(owners, "")
		if len(o.finalizers) > 0 {
			line += " |" + strings.Join(o.finalizers, " ")
		}
		lines[key] = line
	}
	return lines
}

// differences lists where two states that are described are not the same.
func differences(want, got map[string]string) []string {
	var lines []string
	for key, line := range want {
		if got[key] != line {
			lines = append(lines, fmt.Sprintf("want %q, got %q", line, got[key]))
		}
	}
	for key, line := range got {
		if _, wanted := want[key]; !wanted {
			lines = append(lines, fmt.Sprintf("did not want %q", line))
		}
	}
	slices.Sort(lines)
	return lines
}
