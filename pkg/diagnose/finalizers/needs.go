package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// lack is an object that somebody needs and that is proven to be absent.
type lack struct {
	object   v1alpha1.ObjectRef
	evidence []v1alpha1.Observation
	// proven says that the actor cannot do its work without it, and not only that a warning named
	// it.
	proven bool
	// ifGone is what to do about it, in sentences, if that is not to create it again.
	ifGone string
}

// lacks returns what is absent of what the actor of a finalizer needs: by what the object says,
// which is told first, and by its pack.
func (e dependencies) lacks(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []lack {
	var all []lack
	at := map[v1alpha1.ObjectRef]int{}
	needs := e.Actors.Needed(ctx, o, a)
	for _, l := range append(e.saidMissing(ctx, o, needs), e.needed(ctx, o, a, needs)...) {
		if i, known := at[l.object]; known {
			all[i].proven, all[i].ifGone = all[i].proven || l.proven, cmp.Or(all[i].ifGone, l.ifGone)
			continue
		}
		at[l.object] = len(all)
		all = append(all, l)
	}
	return all
}

// needed returns what is absent of what a pack says that the actor needs.
func (e dependencies) needed(ctx context.Context, o *unstructured.Unstructured, a actor.Actor,
	needs []actor.Needed) []lack {
	var all []lack
	for _, n := range needs {
		ref := core.RefTo(n.Type, n.Namespace, n.Name)
		if !e.Absent(ctx, n.Type, ref) {
			continue
		}
		says := fmt.Sprintf("%s needs %s, which does not exist", core.Whoever(a), ref.Located())
		seen := append(core.ObservedAt(cluster.Place(n.NamedBy, n.Field), says), e.Failing(o)...)
		all = append(all, lack{ref, seen, true, n.IfGone})
	}
	return all
}

// dependencyMissing is for an object that the actor needs and that is gone.
func (e dependencies) dependencyMissing(ctx context.Context, o *unstructured.Unstructured, a actor.Actor,
	l lack) core.Finding {
	f := core.Finding{Code: core.DependencyMissing, About: &l.object, Actor: a.Who, Evidence: l.evidence,
		Cost: core.Cost(a)}
	f.Args = []string{"{object}", l.object.Located()}
	if l.proven {
		f.Sentence = fmt.Sprintf("%s needs %s, which does not exist", core.Whoever(a), l.object.Located())
	}
	if a.IsKnown {
		f.Args = append(f.Args, "{then}", " "+phrase.Sentence(a.Known.OnCompletion()))
	}
	// The name is what another object says; one that no server accepts could be an option.
	if l.object.Kind == "ServiceAccount" && l.object.Namespace != "" &&
		len(validation.IsDNS1123Subdomain(l.object.Name)) == 0 {
		f.Commands = append(f.Commands,
			core.FixedCommand("kubectl", "create", "serviceaccount", l.object.Name, "-n", l.object.Namespace).
				Safely("creates the ServiceAccount again; what is bound to its name applies to it").CreatingIn(l.object.Namespace))
	}
	f.Commands = append(f.Commands,
		core.At(e.Ref(o), core.Command("kubectl", "describe",
			"OBJECT")).Safely("shows what the object refers to"), e.ByHand(o, a))
	switch {
	case l.ifGone != "":
		f.Remedy = l.ifGone
		return f
	case made(o, l.object.Name):
		f.Remedy = phrase.Sentence(fmt.Sprintf("%s looks for %s, which its status names: that is a result, which nobody makes "+
			"again by hand; look whether a newer release passes over what is gone", core.Whoever(a), l.object.Located()))
	}
	if slices.Contains([]string{"PersistentVolumeClaim", "PersistentVolume", "Pod"}, l.object.Kind) && l.object.Group() == "" {
		f.Remedy = phrase.Sentence(fmt.Sprintf("%s looks for %s, which is gone, and one that is made again is another: look "+
			"whether anything of it is left, and whether a newer release passes over what is gone", core.Whoever(a),
			l.object.Located()))
	}
	c := core.Creation{What: l.object.Located(), Namespace: l.object.Namespace,
		Left: "The remaining option is to remove the finalizer by hand."}
	if t, _ := e.Catalog.Kind(l.object.APIVersion, l.object.Kind); t.Namespaced && c.Namespace == "" {
		if c.Namespace, _ = refersTo(o, l.object.Name); c.Namespace == "" { // it can be any
			named := namespaceNamed(o, false)
			if gone, went := e.wentWith(ctx, f, c, named); went {
				return gone
			}
			c.Namespace, c.Perhaps = cmp.Or(named, o.GetNamespace()), true
		}
	}
	return e.Possible(ctx, f, c)
}

// made reports whether an object names another in its status only: as what was made of it.
func made(o *unstructured.Unstructured, name string) bool {
	for key, value := range o.Object {
		if key != "metadata" && key != "status" && names(value, name) {
			return false
		}
	}
	for _, value := range o.GetAnnotations() {
		if value == name {
			return false
		}
	}
	return names(o.Object["status"], name)
}

// names reports whether a value is a name, or one that it contains is.
func names(value any, name string) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return names(item, name) })
	case map[string]any:
		for _, item := range v {
			if names(item, name) {
				return true
			}
		}
	}
	return value == any(name)
}

// creating is for an actor that has to create something in the namespace of the object, which is
// being deleted.
func (e dependencies) creating(ctx context.Context, q *question) []core.Finding {
	ns := q.o.GetNamespace()
	if !q.a.IsKnown || q.a.Known.Creates == "" || q.a.Life == actor.Dead || !e.Closed(ctx, ns) {
		return nil
	}
	f := q.waiting()
	f.Evidence = core.Seen("%s creates %s in namespace %s before it removes the finalizer", core.Whoever(q.a),
		q.a.Known.Creates, ns)
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	f.Sentence = fmt.Sprintf("%s has to create %s, which cannot be created in namespace %s: it is being deleted",
		core.Whoever(q.a), q.a.Known.Creates, ns)
	q.proven = true
	return []core.Finding{e.Possible(ctx, f, core.Creation{What: q.a.Known.Creates, Namespace: ns,
		Left: "The remaining option is to remove the finalizer by hand."})}
}

// lacking is for what the actor needs and what is gone.
func (e dependencies) lacking(ctx context.Context, q *question) []core.Finding {
	var all []core.Finding
	for _, l := range e.lacks(ctx, q.o, q.a) {
		f := e.dependencyMissing(ctx, q.o, q.a, l)
		f.After += q.after()
		all = append(all, f)
		q.proven, q.over = q.proven || l.proven, q.over || l.ifGone != "" && q.a.Life != actor.Dead
	}
	return all
}

// notFound are the ways in which controllers say that they did not find an object: a word before
// the kind, which may be its first half, the kind with or without its group, the name, and the
// namespace if it is said.
var notFound = []*regexp.Regexp{
	regexp.MustCompile(`(?:([A-Za-z]+) )?([A-Za-z][A-Za-z0-9]*)((?:\.[a-z0-9-]+)*) ["'` + "`" + `]([^"'` + "`" +
		`\s]+)["'` + "`" + `](?: in (?:the )?namespace ["'` + "`" + `]?([a-z0-9-]+)["'` + "`" +
		`]?)? (?:was |is |could )?(?:not found|not be found|does not exist|doesn't exist|missing)`),
	regexp.MustCompile(
		`(?:cannot|can not|could not|couldn't|unable to|failed to) find (?:the )?(?:([A-Za-z]+) )?([A-Za-z][A-Za-z0-9]*)((?:\.[a-z0-9-]+)*) ["'` + "`" + `]([^"'` + "`" + `\s]+)["'` + "`" + `](?: in (?:the )?namespace ["'` + "`" + `]?([a-z0-9-]+)["'` + "`" + `]?)?`),
}

// saidMissing returns what an object says that was not found, and that is proven to be absent.
// Where the text does not say the namespace of it, that is where a field says that what the actor
// needs is. Where no field is known and the object does not refer to it either, the text must be
// written as the API writes it, and there must be none of that name in any namespace: controllers
// keep what they need in namespaces of their own, too.
func (e dependencies) saidMissing(ctx context.Context, o *unstructured.Unstructured, needs []actor.Needed) []lack {
	var all []lack
	add := func(at, says, text string, proven bool) {
		text = strings.ReplaceAll(text, `\"`, `"`) // of an error that another one quotes
		for _, pattern := range notFound {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				ref, ok := e.meant(ctx, o, m, needs)
				if ok {
					absent := ref.Located() + " does not exist"
					if t, _ := e.Catalog.Kind(ref.APIVersion, ref.Kind); t.Namespaced && ref.Namespace == "" {
						absent += " in any namespace"
					}
					if field := fieldOfBoth(o.Object["spec"], "spec", ref.Name); field != "" {
						absent = "its " + field + " names " + ref.Located() + ", which does not exist"
					}
					evidence := append(core.ObservedAt(at, says), core.Observed(absent)...)
					all = append(all, lack{ref, evidence, proven, ""})
				}
			}
		}
	}
	for _, c := range status.Failing(o) {
		add(cluster.Place(o, c.Field), e.Quoted(c), c.Message, true)
	}
	for _, s := range status.Texts(o) {
		add(cluster.Place(o, s.Field), fmt.Sprintf("its %s is: %s", s.Field, core.Brief(s.Text)), s.Text, true)
	}
	for i, w := range e.Warnings(ctx, o) {
		add(cluster.Place(w.Event, ""), e.QuotedWarning(i, w), w.Message, false)
	}
	return all
}

// come are the objects of which a failing condition says that they are not found, and that were
// made after it was written: it holds no more, and whoever wrote it has not looked since.
func (e dependencies) come(ctx context.Context, o *unstructured.Unstructured) (seen []v1alpha1.Observation) {
	for _, c := range status.Failing(o) {
		for _, m := range notFound[0].FindAllStringSubmatch(c.Message, -1) {
			r, ok := e.kindSaid(o, m[2], strings.TrimPrefix(m[3], "."))
			if !ok || c.Since.IsZero() || len(validation.IsDNS1123Subdomain(m[4])) > 0 {
				continue
			}
			all, err := e.Reader.ListObjects(ctx, r.GroupResource(), m[5], cluster.Selection{Fields: "metadata.name=" + m[4]})
			if err == nil && len(all) == 1 && all[0].GetCreationTimestamp().After(c.Since) {
				seen = append(seen, core.ObservedAt(cluster.Place(all[0], "metadata"), fmt.Sprintf(
					"%s was made after condition %s said that it is not found", cluster.Located(all[0]), c.Type))...)
			}
		}
	}
	return seen
}

// meant returns the absent object that a text names. It is false if the text can mean something
// else, or if the object exists or cannot be read.
func (e dependencies) meant(ctx context.Context, o *unstructured.Unstructured, m []string,
	needs []actor.Needed) (v1alpha1.ObjectRef, bool) {
	before, kind, group, name, namespace := m[1], m[2], strings.TrimPrefix(m[3], "."), m[4], m[5]
	r, ok := e.kindSaid(o, kind, group)
	if !ok {
		if r, ok = e.kindSaid(o, before+kind, group); !ok {
			return v1alpha1.ObjectRef{}, false
		}
	}
	if in, bare, both := strings.Cut(name, "/"); both {
		namespace, name = in, bare
	}
	if r.Kind == o.GetKind() || name == "" {
		return v1alpha1.ObjectRef{}, false // something of the same name outside the cluster
	}
	if !r.Namespaced {
		namespace = ""
	} else if i := slices.IndexFunc(needs, func(n actor.Needed) bool {
		return n.Type == r.Type && n.Name == name && n.Namespace != ""
	}); namespace == "" && i >= 0 {
		namespace = needs[i].Namespace
	} else if namespace == "" {
		if namespace, ok = refersTo(o, name); !ok || namespace == "" {
			return e.nowhere(ctx, o, r, name, ok || writtenByTheAPI(r, kind, group))
		}
	}
	ref := core.RefTo(r.Type, namespace, name)
	return ref, e.Absent(ctx, r.Type, ref)
}

// nowhere returns what is proven to be absent from every namespace. It is false if the text can
// mean something else.
func (e dependencies) nowhere(ctx context.Context, o *unstructured.Unstructured, r cluster.Resource, name string,
	meant bool) (v1alpha1.ObjectRef, bool) {
	ref := core.RefTo(r.Type, "", name)
	if !meant {
		return ref, false
	}
	if own := core.RefTo(r.Type, o.GetNamespace(), name); own.Namespace != "" && !e.Absent(ctx, r.Type, own) {
		return ref, false // most are there, and whoever may read one need not be able to list all
	}
	return ref, e.Absent(ctx, r.Type, ref)
}

// writtenByTheAPI reports whether a word names a type as the server and the clients of controllers
// do: the kind or the plural, with the group that it has. Other texts can mean what is outside the
// cluster: bucket "db" not found.
func writtenByTheAPI(r cluster.Resource, word, group string) bool {
	return group == r.Group && (word == r.Kind || word == r.Resource)
}

// kindSaid returns the type that a text means by a word: by its kind, plural or singular. Without a
// group it is that of the object's own family, a type of the core, or the only one.
func (e dependencies) kindSaid(o *unstructured.Unstructured, word, group string) (cluster.Resource, bool) {
	some := e.kindsSaid(o, word, group)
	if len(some) == 0 {
		return cluster.Resource{}, false
	}
	return some[0], len(some) == 1
}

// kindsSaid are the types that it may mean.
func (e dependencies) kindsSaid(o *unstructured.Unstructured, word, group string) []cluster.Resource {
	own := o.GroupVersionKind().Group
	var all, family, core []cluster.Resource
	for _, r := range e.Catalog.Resources {
		if !strings.EqualFold(word, r.Kind) && !strings.EqualFold(word, r.Resource) && !strings.EqualFold(word, r.Singular) {
			continue
		}
		switch {
		case group != "":
			if r.Group == group {
				return []cluster.Resource{r}
			}
		case r.Group == own || r.Group != "" && strings.HasSuffix(own, "."+r.Group):
			family = append(family, r)
		case r.Group == "":
			core = append(core, r)
		}
		all = append(all, r)
	}
	for _, some := range [][]cluster.Resource{family, core, all} {
		if len(some) > 0 && group == "" {
			return some
		}
	}
	return nil
}
