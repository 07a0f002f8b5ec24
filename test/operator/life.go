package operator

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

var (
	deployments     = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
)

// live works for each Deployment of the operator's name, one after the other, as long as it has a
// ready pod and its ServiceAccount.
func (o *Operator) live(ctx context.Context) {
	seen := make(chan *unstructured.Unstructured)
	go o.deployment(ctx, seen)
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-seen:
			if ready(d) && o.begins(ctx, d.GetUID()) {
				o.incarnation(ctx, d, seen)
			}
		}
	}
}

// incarnation works for one Deployment until that is not ready any more.
func (o *Operator) incarnation(ctx context.Context, d *unstructured.Unstructured,
	seen <-chan *unstructured.Unstructured) {
	working, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.work(working, d)
	}()
	for now := d; ctx.Err() == nil && ready(now) && now.GetUID() == d.GetUID(); {
		select {
		case now = <-seen:
		case <-ctx.Done():
		}
	}
	stop()
	<-ended
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alive = ""
}

// begins reports whether the operator can begin to work for a Deployment: if its ServiceAccount is
// there. It is alive from then on.
func (o *Operator) begins(ctx context.Context, uid types.UID) bool {
	if o.lives(ctx, uid) != nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alive = uid
	o.settled.Store(false)
	return true
}

// ready reports whether a Deployment is there, is not being deleted, and has a ready pod.
func ready(d *unstructured.Unstructured) bool {
	if d == nil || d.GetDeletionTimestamp() != nil {
		return false
	}
	n, _, _ := unstructured.NestedInt64(d.Object, "status", "readyReplicas")
	return n > 0
}

// deployment sends the operator's Deployment whenever it has changed, nil if it is gone.
func (o *Operator) deployment(ctx context.Context, seen chan<- *unstructured.Unstructured) {
	send := func(d *unstructured.Unstructured) {
		select {
		case seen <- d:
		case <-ctx.Done():
		}
	}
	watch(ctx, o.admin, deployments, o.spec.Namespace, "metadata.name="+o.spec.Deployment,
		func(d *unstructured.Unstructured, gone bool) {
			if gone {
				d = nil
			}
			send(d)
		})
	<-ctx.Done()
}

// lives is an error if the operator cannot do anything at this moment: the token of its pods is not
// valid without them and their ServiceAccount.
func (o *Operator) lives(ctx context.Context, uid types.UID) error {
	d, err := o.admin.Resource(deployments).Namespace(o.spec.Namespace).Get(ctx, o.spec.Deployment, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if d.GetUID() != uid || !ready(d) {
		return errStopped
	}
	_, err = o.admin.Resource(serviceAccounts).Namespace(o.spec.Namespace).Get(ctx, account(d), metav1.GetOptions{})
	return err
}

// account is the name of the ServiceAccount of a Deployment.
func account(d *unstructured.Unstructured) string {
	if name, _, _ := unstructured.NestedString(d.Object, "spec", "template", "spec", "serviceAccountName"); name != "" {
		return name
	}
	return "default"
}

// config is that of the operator's ServiceAccount.
func (o *Operator) config(d *unstructured.Unstructured) *rest.Config {
	config := o.cluster.As("system:serviceaccount:"+o.spec.Namespace+":"+account(d), "system:serviceaccounts",
		"system:serviceaccounts:"+o.spec.Namespace, "system:authenticated")
	config.UserAgent, config.WarningHandler = o.spec.Deployment, rest.NoWarnings{}
	return config
}
