package status

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ends are keys of a spec that say when its object is of no use any more.
var ends = regexp.MustCompile(`(?i)^(delete(After|At|On)|expir(y|es|ed|ation)|valid(Until|To)|notAfter)(At|On|After|Date|Time|Timestamp)*$`)

// Expired returns the field of a spec that says that its object was of use until a time which is
// past. It is empty if there is none.
func Expired(o *unstructured.Unstructured, now time.Time) Said {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		text := Text(spec, key)
		for layout, lasts := range map[string]time.Duration{time.RFC3339: 0, time.DateOnly: 24 * time.Hour} {
			if until, err := time.Parse(layout, text); err == nil && ends.MatchString(key) && until.Add(lasts).Before(now) {
				return Said{"spec." + key, text}
			}
		}
	}
	return Said{}
}
