package link

import (
	"slices"
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

// TestAPrunerWaitsForEachOfWhatAnObjectWasAppliedFor: what the object itself says is said once, and
// what its parents say of each that says it.
func TestAPrunerWaitsForEachOfWhatAnObjectWasAppliedFor(t *testing.T) {
	p := Pruner{By: "Sync", Waits: []PruneWait{
		{Where: []Condition{{Annotation: "example.com/ask"}}, Until: "somebody agrees"},
		{Parent: []Condition{{Field: Path{[]string{"spec", "manual"}}, Value: "true"}}, Until: "somebody syncs"},
	}}
	object := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/ask": "yes"}}}
	manual := func(says any) map[string]any { return map[string]any{"spec": map[string]any{"manual": says}} }
	got := p.WaitsFor(object, []Applied{{"App/one", manual(true)}, {"App/two", manual(false)}, {"App/three", manual(true)}})
	want := []string{"Sync prunes it only once somebody agrees: annotation example.com/ask",
		"Sync prunes it only once somebody syncs: spec.manual is true of App/one",
		"Sync prunes it only once somebody syncs: spec.manual is true of App/three"}
	if len(got) != len(want) || !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.WaitsFor(object, nil); len(got) != 1 {
		t.Errorf("without what it was applied for: %q", got)
	}
}

// TestAPrunerDeletesAsTheFirstThatAsksForAnotherPolicySays: what asks for none, or was not read, changes
// nothing.
func TestAPrunerDeletesAsTheFirstThatAsksForAnotherPolicySays(t *testing.T) {
	asks := func(policy Policy) PrunePolicy {
		return PrunePolicy{[]Condition{{Field: Path{[]string{"spec", "policy"}}, Value: string(policy)}}, policy}
	}
	p := Pruner{Policy: Foreground, Policies: []PrunePolicy{asks(Background), asks(Orphan)}}
	of := func(policy string) Applied {
		return Applied{"App/one", map[string]any{"spec": map[string]any{"policy": policy}}}
	}
	for want, parents := range map[Policy][][]Applied{
		Foreground: {nil, {of("")}, {of("other")}},
		Background: {{of("background")}, {of("orphan"), of("background")}},
		Orphan:     {{of(""), of("orphan")}},
	} {
		for _, read := range parents {
			if got := p.PolicyFor(read); got != want {
				t.Errorf("%v: %s, want %s", read, got, want)
			}
		}
	}
}
