package approval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Content is what a plan does, with what it has most of one at a time: the actions, and the objects
// that are deleted.
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

// entries are what a plan does, each with its words, by its key. An entry without words is told by
// another one.
func entries(p *v1alpha1.Plan) map[string]string {
	all := map[string]string{}
	of(p).each(true, func(key []byte, words string) { all[string(key)] = words })
	return all
}

// each calls add with the key of each entry, and with its words if these are told.
func (c Content) each(told bool, add func(key []byte, words string)) {
	words := func(format string, args ...any) string {
		if !told {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	p := c.Plan
	add(key("policy", p.Policy), words("propagation policy %s", p.Policy))
	if p.GC != "" {
		add(key("gc", p.GC), words("the garbage collector's part is done by %s", p.GC))
	}
	if g := p.GracePeriodSeconds; g != nil {
		add(key("gracePeriodSeconds", *g, p.PropagateGracePeriod), words("grace period of %d seconds", *g))
	}
	if !p.Complete {
		add(key("incomplete"), words("types that may contain dependents could not be listed"))
	}
	for _, o := range p.Roots {
		add(key("root", identity(o)), words("named: %s", named(o)))
	}
	for a := range c.Actions {
		does := ""
		if told {
			does = actionWords(a)
		}
		add(key("action", a.Verb, identity(a.Object), a.Policy, a.By, sorted(a.Owners), sorted(a.Finalizers), a.Field,
			a.Value), does)
	}
	for i, s := range p.Stages {
		for _, o := range s.Objects {
			add(key("stage", i+1, identity(o)), words("delete %s in stage %d", named(o), i+1))
		}
	}
	for o := range c.Deleted {
		add(key("deleted", identity(o)), "")
	}
	for _, s := range p.Stuck {
		add(key("stuck", identity(s.Object)), words("the deletion of %s cannot complete", named(s.Object)))
	}
	for _, b := range p.Blockers {
		for _, f := range b.Finalizers {
			add(key("finalizer", identity(b.Object), f), words("wait for finalizer %s of %s", f, named(b.Object)))
		}
	}
	for _, d := range p.Disks {
		add(key("disk", identity(d.Volume), d.Driver, d.Handle, d.Destroyed()),
			words("destroy the data of %s", named(d.Volume)))
	}
	for _, o := range p.UnreadDisks {
		add(key("unreadDisk", identity(o)), words("perhaps destroy the data of %s", named(o)))
	}
	for _, s := range p.Spared {
		add(key("spared", identity(s.Object), s.Finalizer),
			words("leave what %s manages outside the cluster", named(s.Object)))
	}
	for _, d := range p.Decided {
		add(key("decided", identity(d.Object), d.Finalizer, d.Field, d.Value),
			words("%s of %s is %s", d.Field, named(d.Object), cmp.Or(d.Value, "not set")))
	}
	for _, o := range p.UnreadSpared {
		add(key("unreadSpared", identity(o)), words("perhaps leave what %s manages outside the cluster", named(o)))
	}
}

// key is what identifies an entry of a plan: a JSON array, so that no two are written alike.
func key(parts ...any) []byte {
	text, err := json.Marshal(parts)
	if err != nil {
		// texts, numbers and lists of texts can be; to go on would leave an entry out of what is
		// approved
		panic("an entry cannot be written as JSON: " + err.Error())
	}
	return text
}

// identity is what identifies an object: its uid, and where it stands. The version of the API in
// which it was listed says nothing about it.
func identity(o v1alpha1.ObjectRef) []string {
	return []string{o.UID, group(o.APIVersion), o.Kind, o.Namespace, o.Name}
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
