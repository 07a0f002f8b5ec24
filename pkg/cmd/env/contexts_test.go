package env

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestInclude: no cluster takes the place of another of the same name, and none is asked twice,
// whatever the order in which they are named.
func TestInclude(t *testing.T) {
	t.Parallel()
	context, other := Target{Name: "k", Context: "k"}, Target{Name: "other", Context: "other"}
	a, b := Target{Name: "k", Kubeconfig: "a/k.yaml"}, Target{Name: "k", Kubeconfig: "b/k.yaml"}
	for want, named := range map[string][]Target{
		"k=k a/k.yaml=a/k.yaml": {a, context}, "k=a/k.yaml b/k.yaml=b/k.yaml": {a, b, a},
		"k=k a/k.yaml=a/k.yaml b/k.yaml=b/k.yaml other=other": {b, context, a, other, b, context},
		"k=a/k.yaml": {a, a}, "k=k": {context, context},
	} {
		slices.Reverse(named)
		for range 2 {
			found := map[string]Target{}
			include(found, slices.Clone(named))
			var got []string
			for _, name := range slices.Sorted(maps.Keys(found)) {
				got = append(got, name+"="+found[name].Context+found[name].Kubeconfig)
			}
			wanted := strings.Fields(want)
			slices.Sort(wanted)
			if !slices.Equal(got, wanted) {
				t.Errorf("%v: %s, not %s", named, got, wanted)
			}
			slices.Reverse(named)
		}
	}
}
