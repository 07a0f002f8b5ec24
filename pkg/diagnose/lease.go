package diagnose

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// minStale is the least age at which a Lease that is not renewed counts as given up: leaders renew every few seconds, and clocks differ.
const minStale = time.Minute

// lease looks at Leases that a leader holds. That one is absent says nothing: leader election may be off.
func (a *Actors) lease(ctx context.Context, s *signs, pattern string) {
	for _, o := range a.named(ctx, s, leases, pattern) {
		a.held(s, o)
	}
}

// held says whether a Lease is held, and renewed.
func (a *Actors) held(s *signs, o *unstructured.Unstructured) {
	name := fmt.Sprintf("Lease %s/%s", o.GetNamespace(), o.GetName())
	holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
	at, _, _ := unstructured.NestedString(o.Object, "spec", "renewTime")
	renewed, err := time.Parse(time.RFC3339, at)
	past := a.now().Sub(renewed)
	// A leader gives up after one duration, and another takes over within the next; several are no hiccup.
	stale := max(minStale, 4*time.Duration(number(o, 15, "spec", "leaseDurationSeconds"))*time.Second)
	switch {
	case holder == "":
		s.dead = append(s.dead, name+" is held by nobody")
	case err != nil:
		s.dead = append(s.dead, name+" was never renewed")
	case past > stale:
		s.dead = append(s.dead, fmt.Sprintf("%s was renewed last %s ago, by %s", name, ago(past), holder))
	default:
		s.alive = append(s.alive, fmt.Sprintf("%s is renewed by %s", name, holder))
	}
}
