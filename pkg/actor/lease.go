package actor

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// minStale is the least age at which a Lease that is not renewed counts as given up: leaders renew every few seconds, and clocks differ.
const minStale = time.Minute

// lease looks at Leases that a leader holds. That one is absent says nothing: leader election may be off.
func (f *Finder) lease(ctx context.Context, s *signs, pattern string) {
	for _, o := range f.named(ctx, s, cluster.Leases, pattern) {
		f.held(s, o)
	}
}

// held adds what a Lease shows.
func (f *Finder) held(s *signs, o *unstructured.Unstructured) {
	s.found = true
	s.add(ReadLease(o, f.now()))
}

// ReadLease says whether a Lease is held, and renewed.
func ReadLease(o *unstructured.Unstructured, now time.Time) Sign {
	name := fmt.Sprintf("Lease %s/%s", o.GetNamespace(), o.GetName())
	holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
	at, _, _ := unstructured.NestedString(o.Object, "spec", "renewTime")
	renewed, err := time.Parse(time.RFC3339, at)
	past := now.Sub(renewed)
	// A leader gives up after one duration, and another takes over within the next; several are no hiccup.
	stale := max(minStale, 4*time.Duration(number(o, 15, "spec", "leaseDurationSeconds"))*time.Second)
	sign := Sign{Life: Unknown, From: place(o, "spec.renewTime")}
	switch {
	case holder == "":
		sign.Says, sign.From = name+" is held by nobody", place(o, "spec.holderIdentity")
	case err != nil:
		sign.Says = name + " was never renewed"
	case past > stale:
		sign.Life, sign.Says = Dead, fmt.Sprintf("%s was renewed last %s ago, by %s", name, phrase.Ago(past), holder)
	default:
		sign.Life, sign.Says = Alive, fmt.Sprintf("%s is renewed by %s", name, holder)
	}
	return sign
}
