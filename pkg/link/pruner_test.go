package link

import (
	"strings"
	"testing"
)

// TestCheckOfWhatAPrunerWaitsFor: one without a clause, without conditions or with conditions for
// which the object would have to be read whole is refused; and so is a value that has no case.
func TestCheckOfWhatAPrunerWaitsFor(t *testing.T) {
	marked, spec := Condition{Annotation: "example.com/ask"}, Condition{Field: Path{[]string{"spec", "manual"}}}
	for want, wait := range map[string]PruneWait{
		"":                                  {Where: []Condition{marked}, Parent: []Condition{spec}, Until: "somebody agrees"},
		`"until" is missing`:                {Where: []Condition{marked}},
		"is empty: it is met by everything": {Until: "somebody agrees"},
		"is not in the metadata":            {Where: []Condition{spec}, Until: "somebody agrees"},
		`"anyCase" is of a "value"`: {Parent: []Condition{{Label: "example.com/ask", AnyCase: true}},
			Until: "somebody agrees"},
	} {
		p := Pruner{ID: "sync", By: "Sync", Policy: Background, Prunes: []Pruned{{Where: []Condition{marked}}},
			Waits: []PruneWait{wait}, Verified: "source", Source: "https://example.com/sync"}
		errs := p.Check()
		if want == "" {
			if len(errs) > 0 {
				t.Errorf("%v", errs)
			}
			continue
		}
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%v, want %q", errs, want)
		}
	}
}
