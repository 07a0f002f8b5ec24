package unfinalize

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Assessor reads objects and says what is to be done about their finalizers. It writes nothing but
// dry runs, and those only in DryRun. It is safe for concurrent use.
type Assessor struct {
	client *cluster.Client
	lives  actorFinder
	// OnSecondLook, if not nil, is called before the second look into a namespace that was found
	// empty, with how long that is off.
	OnSecondLook func(namespace string, wait time.Duration)
	// apart is how long lies between the two listings that prove a namespace empty.
	apart time.Duration

	surveys cluster.Asked[string, *survey]
	empty   cluster.Asked[string, *Emptiness]
}

// secondLook is how long after the first listing of a namespace the second begins: until then a
// server may still take something in that does not know yet that the namespace is being deleted
// (NS-022).
const secondLook = 5 * time.Second

// NewAssessor returns an Assessor that has read nothing yet.
func NewAssessor(client *cluster.Client, reader *cluster.Reader, known *finalizer.Registry) *Assessor {
	return newAssessor(client, actor.NewFinder(reader, known))
}

func newAssessor(client *cluster.Client, lives actorFinder) *Assessor {
	return &Assessor{client: client, lives: lives, apart: secondLook}
}

// Read reads an object. The error is the server's, a NotFound among them, or says that the name is
// another object's now.
func (j *Assessor) Read(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	o, err := j.client.GetObject(ctx, t.Type, t.Namespace, t.Name)
	if err == nil && t.UID != "" && string(o.GetUID()) != t.UID {
		return nil, fmt.Errorf("%s %q: %w", t.Type.Resource, t.Name, change.ErrReplaced)
	}
	return o, err
}

// Candidates assesses several objects side by side. Names says which of an object's finalizers are
// to be removed; those that it does not have are refused. With no names, only an object without any
// finalizer can be helped.
func (j *Assessor) Candidates(ctx context.Context, targets []Target,
	names func(*unstructured.Unstructured) []string) ([]*Candidate, []error) {
	candidates, errs := make([]*Candidate, len(targets)), make([]error, len(targets))
	cluster.Each(j.client, targets, func(i int, t Target) {
		o, err := j.Read(ctx, t)
		if err == nil {
			candidates[i], err = j.Assess(ctx, t.Type, o, names(o))
		}
		errs[i] = err
	})
	return candidates, errs
}

// Assess assesses an object as it was read.
func (j *Assessor) Assess(ctx context.Context, t graph.Type, o *unstructured.Unstructured, names []string) (*Candidate,
	error) {
	c := &Candidate{Type: t, Ref: t.RefOf(o), Object: o, Names: names}
	refs := named(o, names)
	if err := j.learn(ctx, c, refs); err != nil {
		return nil, err
	}
	for _, h := range refs {
		actor, err := j.lives.Judge(ctx, o, h.Name)
		if err != nil {
			return nil, err
		}
		c.Assessments = append(c.Assessments, Assess(o, h, names, actor, c.details))
	}
	switch {
	case len(names) > 0:
		c.Assessments = append(c.Assessments, missing(o, names)...)
	case halfDeleted(o):
		c.Assessments = append(c.Assessments, assessHalfDeleted(o, c.details))
	default:
		c.Assessments = append(c.Assessments, nothingHeld(o))
	}
	return c, nil
}

// missing are the assessments about what is asked for and not there.
func missing(o *unstructured.Unstructured, names []string) []Assessment {
	var assessments []Assessment
	has := finalizersOn(o)
	for _, name := range names {
		if slices.ContainsFunc(has, func(h FinalizerRef) bool { return h.Name == name }) {
			continue
		}
		v := Assessment{FinalizerRef: FinalizerRef{Name: name}}
		switch {
		case halfDeleted(o):
			v.refuse(NotThere, Never, "it has no finalizer, and nothing else blocks its deletion",
				"without --finalizer, the command deletes it again, which completes its deletion")
		case len(has) == 0:
			v.refuse(NotThere, Never, "it has no finalizer", "")
		default:
			v.refuse(NotThere, Never, "it has no such finalizer; it has "+strings.Join(NamesOn(o), ", "), "")
		}
		assessments = append(assessments, v)
	}
	return assessments
}

// nothingHeld is the assessment about an object that is asked about without a finalizer's name, and
// that no finalizer holds.
func nothingHeld(o *unstructured.Unstructured) Assessment {
	var v Assessment
	switch {
	case !deleting(o):
		v.refuse(NothingHeld, Never, "it has no finalizer, and it is not being deleted", "")
	case grace(o) > 0:
		v.refuse(NothingHeld, Never, fmt.Sprintf(
			"it has no finalizer: it is in its grace period of %ds, which its node's kubelet ends", grace(o)),
			"if the node is gone for good, kubectl gc delete --force ends it at once")
	default:
		v.refuse(NothingHeld, Never, "no finalizer of it was named", "")
	}
	return v
}

// learn finds out what the assessments about an object's finalizers rest on besides it and their
// actors.
func (j *Assessor) learn(ctx context.Context, c *Candidate, refs []FinalizerRef) error {
	needsEmpty := len(c.Names) == 0 && isNamespace(c.Object) && halfDeleted(c.Object)
	for _, h := range refs {
		switch method, _ := methodOf(c.Object, h, c.Names); {
		case method == ByOrphaning:
			s, err := j.survey(ctx, c.Ref.Namespace)
			if err != nil {
				return err
			}
			c.orphans(s)
		case method == ByFinalizing && deleting(c.Object) && lastHold(c.Object, h):
			needsEmpty = true
		}
	}
	if !needsEmpty {
		return nil
	}
	empty, err := j.provenEmpty(ctx, c.Ref.Name)
	c.details.Empty = empty
	return err
}

// orphans takes the dependents out of a survey.
func (c *Candidate) orphans(s *survey) {
	id, listed := s.Graph.Lookup(c.Ref.UID)
	c.details.Hiding = s.Graph.Hiding(s.Gaps, c.Ref)
	if c.details.Unlisted = !listed || !s.Graph.Observed(id); !listed {
		return
	}
	at := map[graph.ID]int{}
	for e := range s.Graph.Dependents(id) {
		i, known := at[e.Dependent]
		if !known {
			i = len(c.Dependents)
			at[e.Dependent] = i
			t, _ := s.Graph.Type(e.Dependent)
			c.Dependents = append(c.Dependents,
				Dependent{Type: t, Ref: s.Graph.Ref(e.Dependent), ResourceVersion: s.Graph.ResourceVersion(e.Dependent)})
		}
		c.Dependents[i].At = append(c.Dependents[i].At, s.Graph.Place(e))
	}
}

// survey is what can be listed where the dependents of an owner can be.
type survey struct {
	*selection.Snapshot
	reader *cluster.Reader // with the discovery of the listing
}

// survey lists a namespace, or everything if namespace is empty; once for all that ask. What may
// not be listed everywhere is listed in the fallback.
func (j *Assessor) survey(ctx context.Context, namespace string, fallback ...string) (*survey, error) {
	return j.surveys.Once(ctx, namespace, func() (*survey, error) {
		return list(ctx, j.client, cluster.ListOptions{Namespace: namespace, Fallback: fallback})
	})
}

// list lists with discovery that is asked anew.
func list(ctx context.Context, client *cluster.Client, opts cluster.ListOptions) (*survey, error) {
	listed, reader, err := selection.ListAfresh(ctx, client, opts)
	if err != nil {
		return nil, err
	}
	return &survey{listed, reader}, nil
}

// provenEmpty lists a namespace and, if nothing was found, once more a while later (NS-022).
func (j *Assessor) provenEmpty(ctx context.Context, namespace string) (*Emptiness, error) {
	return j.empty.Once(ctx, namespace, func() (*Emptiness, error) {
		first, err := content(ctx, j.client, namespace)
		if err != nil || !first.Proven() {
			return first, err
		}
		if j.OnSecondLook != nil {
			j.OnSecondLook(namespace, j.apart)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(j.apart):
		}
		return content(ctx, j.client, namespace)
	})
}

// content lists everything in a namespace: objects of every namespaced type that can be listed,
// whether or not anybody could delete them.
func content(ctx context.Context, client *cluster.Client, namespace string) (*Emptiness, error) {
	s, err := list(ctx, client, cluster.ListOptions{Namespace: namespace, Types: listable})
	if err != nil {
		return nil, err
	}
	e := &Emptiness{Gaps: s.Gaps}
	for id := range s.Graph.IDs() {
		if s.Graph.Observed(id) && s.Graph.Namespace(id) == namespace {
			e.Remaining = append(e.Remaining, s.Graph.Ref(id))
		}
	}
	return e, nil
}

func listable(r cluster.Resource) bool { return r.Namespaced && slices.Contains(r.Verbs, "list") }
