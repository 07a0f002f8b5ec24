package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// PutBackError is of a write that the server has taken and that has come to nothing: what was
// removed is there again. To send it once more would be to fight whoever puts it back.
type PutBackError struct {
	// What names what was removed, in words.
	What string
	// Times is how often it was removed in vain; 0 says that the answer to the write had it
	// already.
	Times int
	// Manager is the field manager that has written it last, empty if managedFields name none.
	Manager string
	// Mutators are what may have changed the write on its way (Client.Mutators).
	Mutators []string
}

// Error names who has put it back, as far as it is known.
func (e *PutBackError) Error() string {
	switch {
	case e.Times == 0 && len(e.Mutators) > 0:
		return fmt.Sprintf(
			"%s was put back in the same request by a webhook or a policy that changes writes; these may change them: %s",
			e.What, strings.Join(e.Mutators, ", "))
	case e.Times == 0:
		return e.What + " was put back in the same request by a webhook or a policy that changes writes"
	case e.Manager != "":
		return fmt.Sprintf("%s was put back %s by %q, as managedFields say: stop it first", e.What, times(e.Times), e.Manager)
	}
	return fmt.Sprintf("%s was put back %s by a webhook or another client, and managedFields do not say by which", e.What,
		times(e.Times))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// PutBackAtOnce is the error of a write whose answer still has what it was to remove. What names
// that in words.
func (c *Client) PutBackAtOnce(ctx context.Context, t graph.Type, what string) *PutBackError {
	return &PutBackError{What: what, Mutators: c.Mutators(ctx, t)}
}

// PutBack is the error of what was removed from an object so many times and is there again. Path is
// where managedFields name it; who they name now has put it back, if it was not this client.
func (c *Client) PutBack(ctx context.Context, t graph.Type, object graph.Ref, what string, path []string,
	times int) *PutBackError {
	e := &PutBackError{What: what, Times: times}
	if o, err := c.GetObjectMeta(ctx, t, object.Namespace, object.Name); err == nil && string(o.GetUID()) == object.UID {
		if w := LastWriter(o, path); w.Manager != FieldManager {
			e.Manager = w.Manager
		}
	}
	return e
}
