package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// watched is the watch of one type.
type watched struct {
	recorder *Recorder
	resource schema.GroupResource
	client   metadata.Getter

	first watch.Interface // the watch to begin with

	mu      sync.Mutex
	version string // the resourceVersion to continue from
	objects map[types.UID]seen
}

// seen is the last known state of an object.
type seen struct {
	object     Object
	version    uint64
	finalizers []string
	deleted    bool
}

// errNoVersion is returned for an object whose resourceVersion cannot be compared.
var errNoVersion = errors.New("the resourceVersion is not a number")

func (w *watched) list(ctx context.Context) error {
	w.objects = map[types.UID]seen{}
	list, err := w.client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing %s: %w", w.resource, err)
	}
	w.version = list.ResourceVersion
	for i := range list.Items {
		s, err := w.look(&list.Items[i])
		if err != nil {
			return err
		}
		w.objects[s.object.UID] = s
	}
	return nil
}

func (w *watched) look(o *metav1.PartialObjectMetadata) (seen, error) {
	version, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	if err != nil {
		return seen{}, fmt.Errorf("reading %s/%s: %w: %q", w.resource, o.Name, errNoVersion, o.ResourceVersion)
	}
	return seen{
		object:  Object{Resource: w.resource.String(), Namespace: o.Namespace, Name: o.Name, UID: o.UID},
		version: version, finalizers: o.Finalizers, deleted: o.DeletionTimestamp != nil,
	}, nil
}

// begin lists the objects and opens the first watch. What is deleted with its CRD is seen only by a
// watch that is open before.
func (w *watched) begin(ctx context.Context) error {
	if err := w.list(ctx); err != nil {
		return err
	}
	var err error
	if w.first, err = w.open(ctx); apierrors.IsNotFound(err) {
		w.first = watch.NewEmptyWatch() // its CRD is gone, as watch finds
	} else if err != nil {
		return fmt.Errorf("watching %s: %w", w.resource, err)
	}
	return nil
}

func (w *watched) open(ctx context.Context) (watch.Interface, error) {
	return w.client.Watch(ctx, metav1.ListOptions{ResourceVersion: w.from(), AllowWatchBookmarks: true})
}

// watch follows the type until its CRD is gone or ctx is done. The server ends a watch now and
// then; the next one continues from there.
func (w *watched) watch(ctx context.Context) {
	stream, err := w.first, error(nil)
	for ; ctx.Err() == nil; stream, err = w.open(ctx) {
		if err == nil {
			err = w.follow(stream)
			stream.Stop()
		}
		switch {
		case err == nil:
		case apierrors.IsNotFound(err):
			return
		case ctx.Err() == nil:
			w.recorder.fail(fmt.Errorf("watching %s: %w", w.resource, err))
			return
		}
	}
}

func (w *watched) from() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

func (w *watched) follow(stream watch.Interface) error {
	for event := range stream.ResultChan() {
		if event.Type == watch.Error {
			return apierrors.FromObject(event.Object)
		}
		o, ok := event.Object.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("an event has %T", event.Object)
		}
		if err := w.take(event.Type, o); err != nil {
			return err
		}
	}
	return nil
}

// take records an event of the watch.
func (w *watched) take(kind watch.EventType, o *metav1.PartialObjectMetadata) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = o.ResourceVersion
	if kind == watch.Bookmark {
		return nil
	}
	now, err := w.look(o)
	if err != nil {
		return err
	}
	before, known := w.objects[now.object.UID]
	w.objects[now.object.UID] = now
	if !known {
		w.recorder.add(Created, now)
	}
	// The deletion of an object without finalizers is one write, so no deletionTimestamp is seen.
	if now.deleted && !before.deleted {
		w.recorder.add(Deleted, now)
	} else if known && !slices.Equal(before.finalizers, now.finalizers) {
		w.recorder.add(Changed, now)
	}
	if kind == watch.Deleted {
		delete(w.objects, now.object.UID)
		w.recorder.add(Gone, now)
	}
	return nil
}

// caughtUp reports whether the watch has delivered the current state of all objects.
func (w *watched) caughtUp(ctx context.Context) (bool, error) {
	list, err := w.client.List(ctx, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("listing %s: %w", w.resource, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || len(list.Items) != len(w.objects) {
		return err != nil && len(w.objects) == 0, nil
	}
	for i := range list.Items {
		now, err := w.look(&list.Items[i])
		if err != nil {
			return false, err
		}
		if w.objects[now.object.UID].version < now.version {
			return false, nil
		}
	}
	return true, nil
}
