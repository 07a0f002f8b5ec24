package deletion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// stuck is the refusal of a deletion that would not complete; nil if it would, or if that is
// allowed.
func (p *Planned) stuck() error {
	if p.planner.request.AllowStuck {
		return nil
	}
	says := p.WouldBeStuck()
	if says == "" {
		return nil
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: the deletion would not complete: %s", says),
		p.hintStuck()))
}

func (p *Planned) hintStuck() string {
	switch {
	case len(p.unserved) > 0:
		return "delete " + p.answered() + " too; --allow-stuck deletes all the same"
	case len(p.Protected()) > 0 && cluster.IsImmortal(p.Protected()[0].Object): // which is the one that is named
		return "nothing changes that; --allow-stuck deletes the rest all the same"
	case len(p.unhooked.refused) > 0:
		return "delete " + fewOf(p.unhooked.hooks, func(u plan.Unhooked) graph.Ref { return u.Config }) +
			" too; --allow-stuck deletes the rest all the same"
	case len(p.Protected()) > 0:
		return "change what refuses it, or leave the object out; --allow-stuck deletes the rest all the same"
	case slices.ContainsFunc(p.Stuck(), func(s plan.ObjectReason) bool { return s.Because.Code == plan.LinkRefused }):
		if _, cause := p.stuckFor(plan.LinkRefused); !slices.ContainsFunc(p.Stuck(), func(s plan.ObjectReason) bool {
			f, ok := p.Link(s.Object, s.Because)
			return ok && f.Account != ""
		}) {
			return "delete " + cause.Located() + " first; --allow-stuck deletes the rest all the same"
		}
		return "give the ServiceAccount the right to, or leave the object out; --allow-stuck deletes the rest all the same"
	case p.planner.request.Ordered ||
		slices.ContainsFunc(p.Stuck(), func(s plan.ObjectReason) bool { return !p.Belongs(s.Object) }):
		return "--allow-stuck deletes all the same" // a stage deletes nothing that only a link leads to
	}
	return "--ordered deletes what has the finalizers first, and the rest when it is gone; --allow-stuck deletes all the same"
}

// WouldBeStuck says why the deletion would not complete: the server refuses a part of it, or who
// removes finalizers goes first; empty if it would.
func (p *Planned) WouldBeStuck() string {
	if refused := p.Protected(); len(refused) > 0 {
		return fmt.Sprintf("the server refuses to delete %s: %s",
			fewOf(refused, func(r v1alpha1.Protected) graph.Ref { return r.Object }), refused[0].Message)
	}
	if objects, cause := p.stuckFor(plan.ActorDeleted); len(objects) > 0 {
		return fmt.Sprintf("nobody removes the finalizers of %s once %s is deleted", firstFew(objects), cause.Located())
	}
	for _, s := range p.Stuck() {
		if f, ok := p.Link(s.Object, s.Because); ok && s.Because.Code == plan.LinkRefused {
			return fmt.Sprintf("%s does not let %s go while %s is there: %s", f.Definition.Deletion.By,
				p.Graph.Ref(s.Object).Located(), p.Graph.Ref(s.Because.Cause).Located(), f.Refused)
		}
	}
	if objects, cause := p.stuckFor(plan.DiscoveryFails); len(objects) > 0 {
		return fmt.Sprintf("the namespace controller cannot finish %s once %s is deleted, which answers %s",
			firstFew(objects), cause.Located(), p.answered())
	}
	return ""
}

// stuckFor are the objects that are stuck for a reason, with the cause of the first.
func (p *Planned) stuckFor(code plan.ReasonCode) (objects []graph.Ref, cause graph.Ref) {
	for _, s := range p.Stuck() {
		if s.Because.Code != code {
			continue
		}
		if len(objects) == 0 {
			cause = p.Graph.Ref(s.Because.Cause)
		}
		objects = append(objects, p.Graph.Ref(s.Object))
	}
	return objects, cause
}

// answered names the APIServices that lose what answers them.
func (p *Planned) answered() string {
	return fewOf(p.unserved, func(u v1alpha1.Unserved) graph.Ref { return u.APIService })
}

// Deadlocked is an object that is being deleted and will never be gone: nobody waits for it, or the
// wait would have no end.
type Deadlocked struct {
	plan.ObjectReason
	// Graph is the one that the reason is about.
	Graph *graph.Graph
}

// Unchecked is an object of which a plan said that it would never be gone, and that could not be
// read afterwards: whether it still exists is not known.
type Unchecked struct {
	act.Unseen
	Gap v1alpha1.Gap
}

// A collector that has not seen all deletes of a cycle breaks it (GC-064). Nothing shows that it has
// seen them, so that the cycle has this long to go, and is looked at so often.
const (
	settleWithin = 5 * time.Second
	settleEvery  = 200 * time.Millisecond
)

// settle waits until what the plans said would never be gone, unless the collector comes between the
// deletes, is gone or has had the time for that.
func settle(ctx context.Context, client *cluster.Client, plans []*Planned) {
	// What still stands at the end, or cannot be read, is for deadlocked to say.
	_ = wait.PollUntilContextTimeout(ctx, settleEvery, settleWithin, true, func(ctx context.Context) (bool, error) {
		for _, p := range plans {
			for _, s := range p.Deadlocked {
				if _, may := slices.BinarySearch(p.Unsettled, s.Object); !may {
					continue
				}
				ref := p.Graph.Ref(s.Object)
				t, _ := p.Graph.Type(s.Object)
				if now, err := client.GetMeta(ctx, t, ref.Namespace, ref.Name); err == nil && now.UID == ref.UID {
					return false, nil
				}
			}
		}
		return true, nil
	})
}

// deadlocked returns what the plans said would never be gone: what is indeed still there, and what
// could not be read, which proves nothing.
func deadlocked(ctx context.Context, client *cluster.Client, plans []*Planned) (left []Deadlocked, unread []Unchecked) {
	for _, p := range plans {
		for _, s := range p.Deadlocked {
			ref := p.Graph.Ref(s.Object)
			t, _ := p.Graph.Type(s.Object)
			now, err := client.GetMeta(ctx, t, ref.Namespace, ref.Name)
			if err == nil && now.UID == "" {
				err = cluster.ErrNoUID
			}
			switch {
			case cluster.IsAbsent(err, t, ref.Name), err == nil && now.UID != ref.UID:
			case err != nil:
				unread = append(unread, unchecked(ctx, t, ref, err))
			default:
				left = append(left, Deadlocked{s, p.Graph})
			}
		}
	}
	return left, unread
}

func unchecked(ctx context.Context, t graph.Type, ref graph.Ref, err error) Unchecked {
	gap, ok := cluster.GapOf(ctx, t, ref.Namespace, err)
	if !ok { // the server cannot be reached, which says as little of the object
		gap = v1alpha1.Gap{Resource: t.Resource, Group: t.Group, Namespace: ref.Namespace, Reason: v1alpha1.GapUnavailable,
			Message: err.Error()}
	}
	err = &cluster.UnreadError{Type: t, Namespace: ref.Namespace, Name: ref.Name, Err: err}
	return Unchecked{act.Unseen{Object: ref, Err: err}, gap}
}

// uncheckedError is the finding that objects could not be read, in the words of the first.
func uncheckedError(unread []Unchecked) error {
	if len(unread) == 0 {
		return nil
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("could not check whether %s still exists: %w",
		fewOf(unread, func(u Unchecked) graph.Ref { return u.Object }), unread[0].Err),
		"the plan shows that this deletion may never complete; kubectl gc why shows whether it is stuck"))
}

// deadlockedError is the finding that there is something like that.
func deadlockedError(left []Deadlocked) error {
	if len(left) == 0 {
		return nil
	}
	objects := fewOf(left, func(l Deadlocked) graph.Ref { return l.Graph.Ref(l.Object) })
	for _, of := range [...]struct {
		code plan.ReasonCode
		says string
	}{
		{plan.ActorDeleted, "the controller that removes the finalizers is deleted too"},
		{plan.DiscoveryFails, "what answers an API is deleted, and the namespace controller cannot finish without an answer"},
	} {
		if slices.ContainsFunc(left, func(l Deadlocked) bool { return l.Because.Code == of.code }) {
			return answer.Refuse(answer.WithHint(fmt.Errorf("the deletion is stuck: %s: %s", objects, of.says),
				"install it again, or see kubectl gc why for what to do about each"))
		}
	}
	because := " (" + left[0].Because.Sentence(left[0].Graph, left[0].Object) + ")"
	return answer.Refuse(answer.WithHint(errors.New("the deletion cannot complete: "+objects+because),
		"kubectl gc run --break-deadlocks sets blockOwnerDeletion to false on a reference of a cycle; kubectl gc tree shows which objects wait for each other"))
}

// mostInUse is of how many objects it is looked what uses them. Of the others
// nothing is said.
const mostInUse = 64

// use is what keeps an object: those who use it, by finalizer.
type use struct {
	by     []plan.InUse
	unread bool // not all could be seen
}

// inUse ask which finalizers that a deletion waits for keep objects that others use which are not
// deleted.
func inUse(reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan, f *plan.Details) (q *answers[use],
	tell func()) {
	finder := actor.NewFinder(reader, known)
	set := deletedOf(p)
	by := carriers(p.Graph, known, blockers(p), func(c carrier) bool {
		return !c.known.Fallback && c.actor().CanBeInUse()
	})
	ids := slices.Sorted(maps.Keys(by))
	ids = ids[:min(len(ids), mostInUse)]
	q = newAnswers(ids, func(ctx context.Context, id graph.ID, o *unstructured.Unstructured) (said use) {
		for _, c := range by[id] {
			a, err := finder.State(ctx, o, c.actor())
			said.unread = said.unread || err != nil || a.UsersUnread != nil
			if users := set.staying(a.Users); len(users) > 0 {
				said.by = append(said.by, plan.InUse{Object: id, Finalizer: c.finalizer, Users: users})
			}
		}
		slices.SortFunc(said.by, func(a, b plan.InUse) int { return strings.Compare(a.Finalizer, b.Finalizer) })
		return said
	})
	return q, func() {
		for _, id := range ids {
			said, heard := q.by[id]
			f.InUse = append(f.InUse, said.by...)
			if heard && !said.unread && len(said.by) == 0 {
				f.Unused = append(f.Unused, id)
			}
		}
	}
}

// staying are those of some users that are not deleted with the plan, or with their namespace. One
// that is being deleted already uses the object until it is gone, and may be stuck.
func (g deletedSet) staying(users []actor.User) []graph.Ref {
	var all []graph.Ref
	for _, u := range users {
		id, listed := g.plan.Graph.Lookup(string(u.Object.GetUID()))
		namespace, in := g.plan.Graph.Find("", cluster.Namespaces.Resource, "", u.Object.GetNamespace())
		goes := listed && g.is[id] || in && g.is[namespace]
		if !goes {
			all = append(all, graph.RefOf(u.Object))
		}
	}
	return all
}
