package approval

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Content is what a plan does, with what it has most of one at a time: the actions, and the objects that are deleted.
type Content struct {
	// Plan is all else; its own Actions and Deleted are not looked at.
	Plan    *v1alpha1.Plan
	Actions iter.Seq[v1alpha1.Action]
	Deleted iter.Seq[v1alpha1.ObjectRef]
	// Size is about how many of both there are; 0 if that is not known.
	Size int
}

// of returns the content of a whole plan.
func of(p *v1alpha1.Plan) Content {
	return Content{p, slices.Values(p.Actions), slices.Values(p.Deleted), len(p.Actions) + len(p.Deleted)}
}

// entries are what a plan does, each with its words, by its key. An entry without words is told by another one.
func entries(p *v1alpha1.Plan) map[string]string {
	all := map[string]string{}
	of(p).each(true, func(key []byte, words string) { all[string(key)] = words })
	return all
}

// each calls add with the key of each entry, and with its words if these are told.
func (c Content) each(told bool, add func(key []byte, words string)) {
	k := new(key)
	words := func(format string, args ...any) string {
		if !told {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	p := c.Plan
	add(k.begin("policy").text(p.Policy).end(), words("propagation policy %s", p.Policy))
	if p.GC != "" {
		add(k.begin("gc").text(p.GC).end(), words("the garbage collector's part is done by %s", p.GC))
	}
	if g := p.GracePeriodSeconds; g != nil {
		add(k.begin("gracePeriodSeconds").number(*g).truth(p.PropagateGracePeriod).end(), words("grace period of %d seconds", *g))
	}
	if !p.Complete {
		add(k.begin("incomplete").end(), words("types that may contain dependents could not be listed"))
	}
	for _, o := range p.Roots {
		add(k.begin("root").object(o).end(), words("named: %s", named(o)))
	}
	for a := range c.Actions {
		does := ""
		if told {
			does = actionWords(a)
		}
		add(k.begin("action").text(a.Verb).object(a.Object).text(a.Policy).text(a.By).list(sorted(a.Owners)...).list(sorted(a.Finalizers)...).text(a.Field).text(a.Value).end(), does)
	}
	for i, s := range p.Stages {
		for _, o := range s.Objects {
			add(k.begin("stage").number(int64(i+1)).object(o).end(), words("delete %s in stage %d", named(o), i+1))
		}
	}
	for o := range c.Deleted {
		add(k.begin("deleted").object(o).end(), "")
	}
	for _, s := range p.Stuck {
		add(k.begin("stuck").object(s.Object).end(), words("the deletion of %s cannot complete", named(s.Object)))
	}
	for _, b := range p.Blockers {
		for _, f := range b.Finalizers {
			add(k.begin("finalizer").object(b.Object).text(f).end(), words("wait for finalizer %s of %s", f, named(b.Object)))
		}
	}
	for _, d := range p.Disks {
		add(k.begin("disk").object(d.Volume).text(d.Driver).text(d.Handle).truth(d.Destroyed()).end(), words("destroy the data of %s", named(d.Volume)))
	}
	for _, o := range p.UnreadDisks {
		add(k.begin("unreadDisk").object(o).end(), words("perhaps destroy the data of %s", named(o)))
	}
	for _, s := range p.Spared {
		add(k.begin("spared").object(s.Object).text(s.Finalizer).end(), words("leave what %s manages outside the cluster", named(s.Object)))
	}
	for _, d := range p.Decided {
		add(k.begin("decided").object(d.Object).text(d.Finalizer).text(d.Field).text(d.Value).end(), words("%s of %s is %s", d.Field, named(d.Object), cmp.Or(d.Value, "not set")))
	}
	for _, o := range p.UnreadSpared {
		add(k.begin("unreadSpared").object(o).end(), words("perhaps leave what %s manages outside the cluster", named(o)))
	}
}

func actionWords(a v1alpha1.Action) string {
	words := a.Verb + " " + named(a.Object).String()
	if a.Field != "" {
		words += " " + a.Field + "=" + a.Value
	}
	for _, list := range [][]string{sorted(a.Finalizers), sorted(a.Owners)} {
		if len(list) > 0 {
			words += " " + strings.Join(list, ", ")
		}
	}
	if a.Policy != "" {
		return words + fmt.Sprintf(" (%s, by %s)", a.Policy, a.By)
	}
	return words + " (by " + a.By + ")"
}

func group(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

// named is an object as entries name it.
type named v1alpha1.ObjectRef

func (o named) String() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s (uid %s)", o.Kind, name, o.UID)
}

func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(list))
}
