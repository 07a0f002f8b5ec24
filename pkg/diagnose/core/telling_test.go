package core

import (
	"slices"
	"testing"
)

// TestTellingFirst: what says what is wrong comes before what is only guarded for others, and that
// before what says no more than whether somebody is alive; what says as much stays in its order.
func TestTellingFirst(t *testing.T) {
	of := func(name string, code Code, sentence string, guards bool) Finding {
		return Finding{Finalizer: name, Code: code, Sentence: sentence, Guards: guards}
	}
	alive := of("alive", FinalizerActorAlive, "", false)
	guard := of("guard", FinalizerActorNotFound, "", true)
	gone := of("gone", FinalizerActorNotFound, "", false)
	says := of("says", FinalizerActorAlive, "it waits for a machine", false)
	unsure := of("unsure", FinalizerActorUnknown, "it may wait for a machine", false)
	for name, c := range map[string]struct {
		each [][]Finding
		want []string
	}{
		"alive last":             {[][]Finding{{alive}, {gone}}, []string{"gone", "alive"}},
		"guards behind":          {[][]Finding{{guard}, {gone}, {says}}, []string{"gone", "says", "guard"}},
		"one of several is said": {[][]Finding{{alive, says}, {gone}}, []string{"alive", "says", "gone"}},
		"the unsure behind":      {[][]Finding{{unsure}, {says}, {alive}, {guard}}, []string{"says", "unsure", "guard", "alive"}},
		"nothing is found":       {[][]Finding{nil, {gone}}, []string{"gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range TellingFirst(c.each) {
				got = append(got, f.Finalizer)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the order is %q, want %q", got, c.want)
			}
		})
	}
}
