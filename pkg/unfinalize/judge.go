package unfinalize

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Judge reads objects and says what is to be done about their finalizers. It writes nothing but dry runs, and those only in DryRun. It is safe for
// concurrent use.
type Judge struct {
	client *cluster.Client
	lives  Lives
	// Proving, if not nil, is called before the second look into a namespace that was found empty, with how long that is off.
	Proving func(namespace string, wait time.Duration)
	// apart is how long lies between the two listings that prove a namespace empty.
	apart time.Duration

	mu      sync.Mutex
	surveys map[string]func() (*survey, error)
	empty   map[string]func() (*Emptiness, error)
}

// secondLook is how long after the first listing of a namespace the second begins: until then a server may still take something in that does not
// know yet that the namespace is being deleted (NS-022).
const secondLook = 5 * time.Second

// NewJudge returns a Judge that has read nothing yet.
func NewJudge(client *cluster.Client, lives Lives) *Judge {
	return &Judge{client: client, lives: lives, apart: secondLook, surveys: map[string]func() (*survey, error){}, empty: map[string]func() (*Emptiness, error){}}
}

// Read reads an object. The error is the server's, a NotFound among them, or says that the name is another object's now.
func (j *Judge) Read(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	o, err := j.client.GetWhole(ctx, t.Type, t.Namespace, t.Name)
	if err == nil && t.UID != "" && string(o.GetUID()) != t.UID {
		return nil, fmt.Errorf("%s %q: %w", t.Type.Resource, t.Name, ErrReplaced)
	}
	return o, err
}

// Cases judges several objects side by side. Names says which of an object's finalizers are to come off; those that it does not have are refused.
// With no names, only an object without any finalizer can be helped.
func (j *Judge) Cases(ctx context.Context, targets []Target, names func(*unstructured.Unstructured) []string) ([]*Case, []error) {
	cases, errs := make([]*Case, len(targets)), make([]error, len(targets))
	var group errgroup.Group
	group.SetLimit(j.client.Concurrency())
	for i, t := range targets {
		group.Go(func() error {
			o, err := j.Read(ctx, t)
			if err == nil {
				cases[i], err = j.Judge(ctx, t.Type, o, names(o))
			}
			errs[i] = err
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return cases, errs
}

// Judge judges an object as it was read.
func (j *Judge) Judge(ctx context.Context, t graph.Type, o *unstructured.Unstructured, names []string) (*Case, error) {
	c := &Case{Type: t, Ref: RefOf(t, o), Object: o, Names: names}
	held := named(o, names)
	if err := j.learn(ctx, c, held); err != nil {
		return nil, err
	}
	for _, h := range held {
		actor, err := j.lives.Of(ctx, o, h.Name)
		if err != nil {
			return nil, err
		}
		c.Verdicts = append(c.Verdicts, Decide(o, h, names, actor, c.facts))
	}
	switch {
	case len(names) > 0:
		c.Verdicts = append(c.Verdicts, missing(o, names)...)
	case halfDeleted(o):
		c.Verdicts = append(c.Verdicts, decideHalfDeleted(o, c.facts))
	default:
		c.Verdicts = append(c.Verdicts, nothingHeld(o))
	}
	return c, nil
}

// missing are the verdicts about what is asked for and not there.
func missing(o *unstructured.Unstructured, names []string) []Verdict {
	var verdicts []Verdict
	has := On(o)
	for _, name := range names {
		if slices.ContainsFunc(has, func(h Held) bool { return h.Name == name }) {
			continue
		}
		v := Verdict{Held: Held{Name: name}}
		switch {
		case halfDeleted(o):
			v.refuse(NotThere, Never, "it has no finalizer, and nothing else holds it", "without --finalizer, the command deletes it again, which ends it")
		case len(has) == 0:
			v.refuse(NotThere, Never, "it has no finalizer", "")
		default:
			var names []string
			for _, h := range has {
				names = append(names, h.Name)
			}
			v.refuse(NotThere, Never, "it has no such finalizer; it has "+strings.Join(names, ", "), "")
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// nothingHeld is the verdict about an object that is asked about without a finalizer's name, and that no finalizer holds.
func nothingHeld(o *unstructured.Unstructured) Verdict {
	var v Verdict
	switch {
	case !deleting(o):
		v.refuse(NothingHeld, Never, "it has no finalizer, and it is not being deleted", "")
	case grace(o) > 0:
		v.refuse(NothingHeld, Never, fmt.Sprintf("it has no finalizer: it is in its grace period of %ds, which its node's kubelet ends", grace(o)),
			"if the node is gone for good, kubectl gc delete --force ends it at once")
	default:
		v.refuse(NothingHeld, Never, "no finalizer of it was named", "")
	}
	return v
}

// learn finds out what the verdicts about an object's finalizers rest on besides it and their actors.
func (j *Judge) learn(ctx context.Context, c *Case, held []Held) error {
	needsEmpty := len(c.Names) == 0 && isNamespace(c.Object) && halfDeleted(c.Object)
	for _, h := range held {
		switch way, _ := wayOf(c.Object, h, c.Names); {
		case way == ByOrphaning:
			s, err := j.survey(ctx, c.Ref.Namespace)
			if err != nil {
				return err
			}
			c.orphans(s)
		case way == ByFinalizing && deleting(c.Object) && lastHold(c.Object, h):
			needsEmpty = true
		}
	}
	if !needsEmpty {
		return nil
	}
	empty, err := j.provenEmpty(ctx, c.Ref.Name)
	c.facts.Empty = empty
	return err
}

// orphans takes the dependents out of a survey.
func (c *Case) orphans(s *survey) {
	id, listed := s.graph.Lookup(c.Ref.UID)
	c.facts.Hiding = plan.Hiding(s.graph, s.gaps, c.Ref)
	if c.facts.Unlisted = !listed || !s.graph.Seen(id); !listed {
		return
	}
	at := map[graph.ID]int{}
	for e := range s.graph.Dependents(id) {
		i, known := at[e.Dependent]
		if !known {
			i = len(c.Dependents)
			at[e.Dependent] = i
			t, _ := s.graph.Type(e.Dependent)
			c.Dependents = append(c.Dependents, Dependent{Type: t, Ref: s.graph.Ref(e.Dependent), ResourceVersion: s.graph.ResourceVersion(e.Dependent)})
		}
		c.Dependents[i].At = append(c.Dependents[i].At, place(s.graph, e))
	}
}

// place is where a reference stands in the list of its object.
func place(g *graph.Graph, wanted graph.Edge) int {
	i := 0
	for e := range g.Owners(wanted.Dependent) {
		if e.Index == wanted.Index {
			break
		}
		i++
	}
	return i
}
