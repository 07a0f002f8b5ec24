package render

import (
	"slices"
	"testing"
)

// TestGatesAreAboutFindingsThatThereAre: a code that no finding has would let each plan pass, and one
// of what does not complete, or loses data, that no gate has, could not be refused.
func TestGatesAreAboutFindingsThatThereAre(t *testing.T) {
	t.Parallel()
	var codes, bad []string
	for _, kinds := range []func(func(code, severity, means string)){FindingCodes, reasonCodes} {
		kinds(func(code, severity, _ string) {
			codes = append(codes, code)
			if severity == severe || code == destroysData {
				bad = append(bad, code)
			}
		})
	}
	var gated []string
	for _, g := range gates {
		for _, code := range g.codes {
			if gated = append(gated, code); !slices.Contains(codes, code) {
				t.Errorf("%s is about %s, which no finding has", g.name, code)
			}
		}
	}
	for _, code := range bad {
		if !slices.Contains(gated, code) {
			t.Errorf("no gate is about %s", code)
		}
	}
}
