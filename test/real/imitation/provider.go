package imitation

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Finalizer is the finalizer that the provider adds to its objects.
const Finalizer = Group + "/provider"

// Provider is a provider that runs in the process of the test.
type Provider struct {
	client dynamic.Interface
	stop   context.CancelFunc
	ended  func() // returns when its informers have ended
}

// Start starts a provider, which ends with the test.
func Start(t testing.TB, c *testcluster.Cluster) *Provider {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	p := &Provider{client: client, stop: stop}
	informers := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	for _, resource := range []string{"testclusters", "testmachines"} {
		gvr := schema.GroupVersionResource{Group: Group, Version: "v1beta1", Resource: resource}
		handle := func(o any) {
			err := p.reconcile(ctx, gvr, o.(*unstructured.Unstructured).DeepCopy())
			// After a conflict, the event of the other write arrives, and is handled.
			if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				t.Errorf("the imitated provider: %v", err)
			}
		}
		_, err := informers.ForResource(gvr).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    handle,
			UpdateFunc: func(_, o any) { handle(o) },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	informers.Start(ctx.Done())
	p.ended = informers.Shutdown
	t.Cleanup(p.Stop)
	return p
}

// Stop stops the provider, and returns when it has ended. Stopping it again does nothing.
func (p *Provider) Stop() {
	p.stop()
	p.ended()
}
