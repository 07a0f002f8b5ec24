package plan

import (
	"fmt"
	"slices"
)

// Policy is a propagation policy, spelled as the API server spells it.
type Policy string

const (
	// Background removes the object and leaves its dependents to the collector.
	Background Policy = "Background"
	// Foreground keeps the object until its blocking dependents are gone.
	Foreground Policy = "Foreground"
	// Orphan takes the references off the dependents before the object goes.
	Orphan Policy = "Orphan"
)

// ParsePolicy reads a value of --cascade.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "background":
		return Background, nil
	case "foreground":
		return Foreground, nil
	case "orphan":
		return Orphan, nil
	}
	return "", fmt.Errorf("invalid cascade value %q: must be background, foreground or orphan", s)
}

// The finalizers through which the API server and the collector talk
// (apimachinery/pkg/apis/meta/v1/types.go).
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
	// NamespaceFinalizer stands in the spec.finalizers of a namespace for its content (NS-001).
	NamespaceFinalizer = "kubernetes"
)

// IsCollectors says whether the garbage collector itself removes a finalizer.
func IsCollectors(finalizer string) bool {
	return finalizer == OrphanFinalizer || finalizer == ForegroundFinalizer
}

// Foreign returns those of some finalizers that the garbage collector does not remove itself.
func Foreign(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), IsCollectors)
}
