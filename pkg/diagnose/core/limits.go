package core

import (
	"cmp"
	"context"
	"time"
)

// Limits bound what an examination costs. The zero value stands for the usual ones.
type Limits struct {
	// Looks is how many objects of a group are read and tried. The others are told what was found
	// at the first of the group.
	Looks int
	// Finalizers is how many of an object's are examined: anybody who may write it can add
	// thousands.
	Finalizers int
	// Deletions is how many deletions are tried in all, besides the first of each type and
	// namespace: a namespace can have thousands of objects of many types.
	Deletions int
	// Young is for how long after a deletion nobody is blamed for not having begun. Less than zero
	// is no time.
	Young time.Duration
	// Pause passes the time between two readings that are compared.
	Pause func(ctx context.Context, since time.Time) error
}

const (
	// usualLooks is more than a person reads, and few enough to be tried within seconds.
	usualLooks = 300
	// usualFinalizers is more than a program has ever put on an object.
	usualFinalizers = 100
	// usualDeletions are tried within seconds too.
	usualDeletions = 1000
	// usualYoung is what controllers at work need: that of namespaces waits 5 s before it begins,
	// and up to 9 s before it looks again (NS-010, pkg/controller/namespace).
	usualYoung = 15 * time.Second
	// usualPause is between two readings. A collector at work deletes some hundred objects in it.
	usualPause = 2500 * time.Millisecond
)

// OrUsual fills in what is not set.
func (l Limits) OrUsual() Limits {
	l.Finalizers = cmp.Or(l.Finalizers, usualFinalizers)
	l.Looks, l.Deletions, l.Young = cmp.Or(l.Looks, usualLooks), cmp.Or(l.Deletions, usualDeletions),
		cmp.Or(l.Young, usualYoung)
	if l.Pause == nil {
		l.Pause = pauseSince
	}
	return l
}

// pauseSince waits until the usual pause since a time is over. The error is that of a context that
// ended.
func pauseSince(ctx context.Context, since time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Until(since.Add(usualPause))):
		return nil
	}
}
