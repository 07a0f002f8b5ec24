package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// errStopped is why an operator cannot do anything.
var errStopped = errors.New("the operator has no ready pod")

// requeue is after what time an operator looks again at what it could not finish, as controllers
// do.
const requeue = 100 * time.Millisecond

// session is an operator at work for one Deployment.
type session struct {
	*Operator
	client *Client
	uid    types.UID
	known  map[schema.GroupVersionResource]cache.SharedIndexInformer
}

// work does the operator's work for a Deployment until ctx ends.
func (o *Operator) work(ctx context.Context, d *unstructured.Unstructured) {
	client, err := newClient(o.config(d), cmp.Or(o.spec.Manager, o.spec.Deployment))
	if err != nil {
		return // a configuration that the control plane has made
	}
	s := &session{o, client, d.GetUID(), map[schema.GroupVersionResource]cache.SharedIndexInformer{}}
	for {
		var retry <-chan time.Time
		done := s.pass(ctx)
		if !done {
			retry = time.After(requeue)
		}
		o.settled.Store(done)
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-retry:
		}
	}
}

// pass looks at all objects once. It is false if something is left to do, or was done, so that more
// may be.
func (s *session) pass(ctx context.Context) bool {
	if s.lives(ctx, s.uid) != nil {
		return false
	}
	done := true
	for _, w := range s.spec.Works {
		for _, o := range s.objects(ctx, resourceOf(w.Resource), &done) {
			done = s.reconcile(ctx, w, o) == nil && done
		}
	}
	return done
}

// objects are those of a type, which is watched from the first time on. It sets done to false as
// long as they are not known.
func (s *session) objects(ctx context.Context, resource schema.GroupVersionResource,
	done *bool) []*unstructured.Unstructured {
	informer := s.known[resource]
	if informer == nil {
		if _, err := s.client.dynamic.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			*done = false // it may come
			return nil
		}
		informer = watch(ctx, s.client.dynamic, resource, "", "", func(*unstructured.Unstructured, bool) { s.again() })
		s.known[resource] = informer
	}
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		*done = false
		return nil
	}
	var all []*unstructured.Unstructured
	for _, o := range informer.GetStore().List() {
		all = append(all, o.(*unstructured.Unstructured))
	}
	return all
}

// errUnfinished is of work that waits for others.
var errUnfinished = errors.New("not yet")

// reconcile does for one object what is due.
func (s *session) reconcile(ctx context.Context, w Work, o *unstructured.Unstructured) error {
	has := slices.Contains(o.GetFinalizers(), w.Finalizer)
	switch {
	case o.GetDeletionTimestamp() != nil && has:
		return s.release(ctx, w, o)
	case o.GetDeletionTimestamp() != nil:
		return nil
	case w.Finalizer != "" && !has:
		return cmp.Or(s.setFinalizers(ctx, w, o, append(slices.Clone(o.GetFinalizers()), w.Finalizer)), errUnfinished)
	}
	return s.create(ctx, w, o)
}

// release removes the finalizer once all is done that comes before.
func (s *session) release(ctx context.Context, w Work, o *unstructured.Unstructured) error {
	if s.held.Load() {
		return nil // Resume wakes
	}
	if w.Before != nil {
		if done, err := w.Before(ctx, s.client, o); err != nil || !done {
			return cmp.Or(err, errUnfinished)
		}
	}
	if err := s.lives(ctx, s.uid); err != nil {
		return err
	}
	without := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == w.Finalizer })
	err := s.setFinalizers(ctx, w, o, without)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		s.mu.Lock()
		s.released[o.GetUID()] = true
		s.mu.Unlock()
	}
	return err
}

func (s *session) setFinalizers(ctx context.Context, w Work, o *unstructured.Unstructured, finalizers []string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID(),
		"resourceVersion": o.GetResourceVersion(), "finalizers": finalizers}})
	if err != nil {
		return err
	}
	_, err = s.client.of(Ref{w.Resource, o.GetNamespace(), o.GetName()}).Patch(ctx, o.GetName(), types.MergePatchType,
		patch, metav1.PatchOptions{FieldManager: s.client.manager})
	return err
}

// create creates what belongs to an object and is not there.
func (s *session) create(ctx context.Context, w Work, owner *unstructured.Unstructured) error {
	if w.Creates == "" {
		return nil
	}
	manifests, err := w.manifests(owner)
	if err != nil {
		return err
	}
	var unfinished error
	for _, o := range manifests {
		m, err := s.client.kind(o)
		if err != nil {
			return err
		}
		done := true
		there := slices.ContainsFunc(s.objects(ctx, m.Resource, &done), func(e *unstructured.Unstructured) bool {
			return e.GetName() == o.GetName() && e.GetNamespace() == o.GetNamespace()
		})
		if !done {
			return errUnfinished
		}
		if there {
			continue
		}
		if err := s.client.stillLives(ctx, w.Resource, owner); err != nil {
			return err
		}
		made, isNew, err := s.client.create(ctx, m, o)
		if err != nil {
			return err
		}
		unfinished = errUnfinished
		if isNew {
			s.mu.Lock()
			s.Operator.created = append(s.Operator.created,
				Object{made.GetKind(), made.GetNamespace(), made.GetName(), made.GetUID()})
			s.mu.Unlock()
		}
	}
	return unfinished
}
