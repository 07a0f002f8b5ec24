package approval

import (
	"encoding/json"
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
}

// of returns the content of a whole plan.
func of(p *v1alpha1.Plan) Content {
	return Content{p, slices.Values(p.Actions), slices.Values(p.Deleted)}
}

// entries are what a plan does, each with its words, by what identifies it: a JSON array of texts, so that no two are written alike. An entry without words is
// told by another one.
func entries(p *v1alpha1.Plan) map[string]string {
	all := map[string]string{}
	of(p).each(func(words func() string, key ...any) {
		text, err := json.Marshal(key)
		if err != nil {
			panic(unencodable(err))
		}
		all[string(text)] = words()
	})
	return all
}

// unencodable is what a key of an entry never is: keys are texts, numbers, booleans and lists of texts, for which encoding/json has no error.
func unencodable(err error) string { return "a key of a plan's entry: " + err.Error() }

// adder adds an entry by its words and what identifies it.
type adder func(words func() string, key ...any)

// each adds each entry.
func (c Content) each(add adder) {
	p := c.Plan
	addRequest(p, add)
	for a := range c.Actions {
		add(func() string { return actionWords(a) }, "action", a.Verb, identity(a.Object), a.Policy, a.By, sorted(a.Owners), sorted(a.Finalizers), a.Field, a.Value)
	}
	for i, s := range p.Stages {
		for _, o := range s.Objects {
			add(func() string { return fmt.Sprintf("delete %s in stage %d", named(o), i+1) }, "stage", i+1, identity(o))
		}
	}
	for o := range c.Deleted {
		add(func() string { return "" }, "deleted", identity(o))
	}
	for _, s := range p.Stuck {
		add(func() string { return "the deletion of " + named(s.Object) + " cannot complete" }, "stuck", identity(s.Object))
	}
	for _, b := range p.Blockers {
		for _, f := range b.Finalizers {
			add(func() string { return fmt.Sprintf("wait for finalizer %s of %s", f, named(b.Object)) }, "finalizer", identity(b.Object), f)
		}
	}
	for _, d := range p.Disks {
		add(func() string { return "destroy the data of " + named(d.Volume) }, "disk", identity(d.Volume), d.Driver, d.Handle, d.Destroyed())
	}
	for _, o := range p.UnreadDisks {
		add(func() string { return "perhaps destroy the data of " + named(o) }, "unreadDisk", identity(o))
	}
	for _, s := range p.Spared {
		add(func() string { return "leave what " + named(s.Object) + " manages outside the cluster" }, "spared", identity(s.Object), s.Finalizer)
	}
	for _, o := range p.UnreadSpared {
		add(func() string { return "perhaps leave what " + named(o) + " manages outside the cluster" }, "unreadSpared", identity(o))
	}
}

// addRequest adds what was asked for.
func addRequest(p *v1alpha1.Plan, add adder) {
	add(func() string { return "propagation policy " + p.Policy }, "policy", p.Policy)
	if p.GC != "" {
		add(func() string { return "the garbage collector's part is done by " + p.GC }, "gc", p.GC)
	}
	if g := p.GracePeriodSeconds; g != nil {
		add(func() string { return fmt.Sprintf("grace period of %d seconds", *g) }, "gracePeriodSeconds", *g, p.PropagateGracePeriod)
	}
	if !p.Complete {
		add(func() string { return "types that may contain dependents could not be listed" }, "incomplete")
	}
	for _, o := range p.Roots {
		add(func() string { return "named: " + named(o) }, "root", identity(o))
	}
}

func actionWords(a v1alpha1.Action) string {
	words := a.Verb + " " + named(a.Object)
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

// identity is what identifies an object: its uid, and where it stands. The version of the API in which it was listed says nothing about it.
func identity(o v1alpha1.ObjectRef) []string {
	return []string{o.UID, group(o.APIVersion), o.Kind, o.Namespace, o.Name}
}

func group(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

func named(o v1alpha1.ObjectRef) string {
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
