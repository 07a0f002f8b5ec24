package operator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Spec is an operator.
type Spec struct {
	// Namespace and Deployment name the Deployment that it is the program of. Its ServiceAccount is
	// the operator's.
	Namespace, Deployment string
	// Manager is the field manager of its writes, as the name of its program; that of the
	// Deployment if it is empty.
	Manager string
	Works   []Work
}

// Work is what an operator does with the objects of a type. A type may have several.
type Work struct {
	// Resource is the type as kubectl names it, with its version:
	// challenges.v1.acme.cert-manager.io.
	Resource string
	// Finalizer is put on each object that lives, and removed from each that is being deleted;
	// empty for none.
	Finalizer string
	// Creates is a manifest of what the operator creates for each object that lives. ${name} is the
	// object's name, ${namespace} and ${uid} likewise, and any other path in braces that field of
	// it, as ${spec.issuerRef.name}. Without Unowned, what can have an ownerReference to the object
	// has one, as its controller.
	Creates string
	Unowned bool
	// Before is done, again and again, before the finalizer is removed, until it says true.
	Before func(context.Context, *Client, *unstructured.Unstructured) (bool, error)
}

// Operator is one that was started. It is safe for concurrent use.
type Operator struct {
	spec    Spec
	admin   dynamic.Interface
	cluster *testcluster.Cluster
	// held says that what its objects stand for outside the cluster takes long to delete.
	held atomic.Bool
	// settled says that there was nothing to do when it last looked.
	settled atomic.Bool
	// wake has an element if there may be something to do.
	wake chan struct{}

	mu sync.Mutex
	// alive is the uid of the Deployment that it works for, empty if it does not work.
	alive    types.UID
	released map[types.UID]bool
	created  []Object
}

// Object is one that an operator has created.
type Object struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Start starts an operator, which begins to work when its Deployment has a ready pod. It ends with
// the test.
func Start(t testing.TB, c *testcluster.Cluster, spec Spec) *Operator {
	t.Helper()
	admin, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	o := &Operator{spec: spec, admin: admin, cluster: c, wake: make(chan struct{}, 1), released: map[types.UID]bool{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.live(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return o
}

// Hold has the operator remove no finalizer until Resume, because what its objects stand for
// outside the cluster is not deleted yet. It does the rest of its work.
func (o *Operator) Hold() { o.held.Store(true) }

// Resume ends Hold.
func (o *Operator) Resume() {
	o.held.Store(false)
	o.again()
}

// again has the operator look at its objects.
func (o *Operator) again() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// WaitUntilSettled waits until the operator works, and has nothing to do.
func (o *Operator) WaitUntilSettled(t testing.TB) {
	t.Helper()
	testcluster.Eventually(t, o.String()+" has nothing to do",
		func(context.Context) (bool, error) { return o.Alive() && o.settled.Load() && len(o.wake) == 0, nil })
}

// WaitUntilStopped waits until the operator does not work.
func (o *Operator) WaitUntilStopped(t testing.TB) {
	t.Helper()
	testcluster.Eventually(t, o.String()+" has stopped", func(context.Context) (bool, error) { return !o.Alive(), nil })
}

// Alive reports whether the operator works.
func (o *Operator) Alive() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.alive != ""
}

// Released reports whether the operator has removed a finalizer from an object.
func (o *Operator) Released(uid types.UID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.released[uid]
}

// Created are the objects that the operator has created, in their order.
func (o *Operator) Created() []Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.created)
}

// Recreated are those that it has created more than once, because they were deleted while the
// object that they belong to lived.
func (o *Operator) Recreated() []string {
	times := map[string]int{}
	var again []string
	for _, made := range o.Created() {
		name := fmt.Sprintf("%s %s/%s", made.Kind, made.Namespace, made.Name)
		if times[name]++; times[name] == 2 {
			again = append(again, name)
		}
	}
	return again
}

// String names the operator's Deployment.
func (o *Operator) String() string { return o.spec.Namespace + "/" + o.spec.Deployment }
