package finalizers

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// TestARetiredFinalizer: of an actor of which no version of today removes the finalizer nothing else
// is asked, such as its rights, and nobody is told to wait for it.
func TestARetiredFinalizer(t *testing.T) {
	t.Parallel()
	a := actor.Actor{Finalizer: "example.com/f", Who: "Op", Life: actor.Alive, IsKnown: true,
		Known: finalizer.Known{Retired: "Op 2"}}
	all, _ := (&Examiner{}).ignored(t.Context(), core.Responsible{Actor: a, Name: "Op"}, core.Finding{})
	if len(all) != 1 || all[0].Code != core.ActorNotWatching || !strings.Contains(all[0].Sentence, "since Op 2") ||
		strings.Contains(all[0].Remedy, "let it finish") {
		t.Errorf("%+v", all)
	}
}
