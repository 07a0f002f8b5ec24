package actor

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// reported looks at what this cluster hears of where an actor runs, in a condition of the object that
// stands for that place. The actor lives while the condition is True, and is dead once it has been
// anything else for longer than patience. The evidence says what the condition is about, which may be
// something beside the actor. reported is false, and other signs count, where the report is one of
// those objects only that meet its Where, and there is none.
func (s *search) reported(ctx context.Context, by finalizer.Report) bool {
	name, unfilled := s.known.Fill(by.Name, Fields(s.about, ""))
	t, served := s.reader.KindIn(by.Group, by.Kind)
	if len(unfilled) > 0 || !served {
		if len(by.Where) == 0 {
			s.missed("%s, which would say what is heard of it, is not known", by.Kind)
		}
		return len(by.Where) == 0
	}
	o, err := s.reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, "", name)
	switch {
	case err != nil:
		s.missed("%s %s cannot be read: %v", by.Kind, name, err)
		return true
	case o == nil:
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("%s %s, which would say what is heard of it, does not exist", by.Kind, name)})
		return true
	case !by.Counts(o.Object):
		return false
	}
	s.found, s.reporter = true, o
	c, said := status.Find(o, by.Condition)
	sign := Sign{Life: Unknown, From: place(o, "status.conditions"),
		Says: fmt.Sprintf("%s has no condition %s", title(o), by.Condition)}
	if said {
		past := s.now().Sub(c.Since)
		sign.Says = fmt.Sprintf("condition %s of %s is %s", by.Condition, title(o), c.Status)
		if !c.Since.IsZero() {
			sign.Says += " for " + phrase.Ago(past)
		}
		if c.Message != "" {
			sign.Says += ": " + strings.TrimSuffix(c.Message, ".")
		}
		sign.Says += "; it is about the " + by.About
		switch {
		case c.Status == "True":
			sign.Life = Alive
		case c.Since.IsZero() || past < patience:
			sign.starting = true
		default:
			sign.Life = Dead
		}
	}
	s.add(sign)
	return true
}
