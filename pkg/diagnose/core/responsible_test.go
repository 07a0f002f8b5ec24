package core

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
)

// TestAGuessedPauseProvesNothing: most controllers heed spec.suspend, and one that deletes claims
// before it looks at that does not.
func TestAGuessedPauseProvesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		actor actor.Actor
		want  bool
	}{
		"none":    {actor.Actor{}, false},
		"guessed": {actor.Actor{Pauses: []actor.Pause{{Custom: true}}}, false},
		"known":   {actor.Actor{Pauses: []actor.Pause{{Custom: true}, {}}}, true},
		"idle":    {actor.Actor{Idles: "spec.suspend is true"}, true},
	} {
		if got := (Responsible{Actor: test.actor}).Idles(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
