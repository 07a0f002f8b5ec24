package core

import "testing"

// TestAnExaminationIsBoundedUnlessToldOtherwise: tests of what is beyond a bound set a lower one.
func TestAnExaminationIsBoundedUnlessToldOtherwise(t *testing.T) {
	l := Limits{}.OrUsual()
	for what, n := range map[string]int{"looks": l.Looks, "finalizers": l.Finalizers, "deletions": l.Deletions} {
		if n < 1 || n > 1000 {
			t.Errorf("%d %s", n, what)
		}
	}
}
