package finalizers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// orphaned is for a finalizer that was added on behalf of an object, its parent, that is gone or
// selects this one no longer: its actor works on parents, and never comes to it.
func (e *Examiner) orphaned(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) (core.Finding, bool) {
	if !a.IsKnown || a.Known.Parent == nil {
		return core.Finding{}, false
	}
	p := a.Known.Parent
	group, openGroup := a.Known.Fill(p.Group, actor.Fields(o, a.Finalizer))
	name, openName := a.Known.Fill(p.Name, actor.Fields(o, a.Finalizer))
	r, served := e.Reader.KindIn(group, p.Kind)
	if len(openGroup)+len(openName) > 0 || !served && !e.unservedParent(o, p, group) {
		return core.Finding{}, false
	}
	ref := core.RefTo(r.Type, "", name)
	if p.Scope == finalizer.SameNamespace && (r.Namespaced || !served) {
		ref.Namespace = o.GetNamespace()
	}
	if !served {
		ref.Kind = p.Kind
	}
	f := core.Finding{
		// nobody is left to keep anything
		Code: core.FinalizerOrphaned, Finalizer: a.Finalizer, Actor: a.Who, Cost: core.ResponsibleFor(o, a).Loss(),
		Args:     []string{"{object}", ref.Located()},
		Commands: []core.Step{e.ByHand(o, a)},
	}
	if !served {
		f.Evidence = core.Seen("it was added for %s, and the cluster serves no %s of %s", ref.Located(), p.Kind, group)
		return f, true
	}
	if r.Namespaced && ref.Namespace == "" {
		f.Evidence = core.Seen("it was added for %s, which is in no namespace", ref.Located())
		return f, e.Absent(ctx, r.Type, ref)
	}
	parent, err := e.Reader.GetObject(ctx, r.GroupResource(), ref.Namespace, name)
	switch {
	case err != nil:
		return core.Finding{}, false
	case parent == nil:
		f.Evidence = core.Seen("it was added for %s, which does not exist", ref.Located())
		return f, true
	case parent.GetDeletionTimestamp() == nil && deselects(parent, p.Selectors, o):
		f.Evidence = core.ObservedAt(cluster.Place(parent, strings.Join(p.Selectors, ", ")),
			fmt.Sprintf("it was added for %s, which no longer selects this object", ref.Located()))
		return f, true
	}
	return core.Finding{}, false
}

// unservedParent reports whether a parent whose kind discovery does not show is gone. One without
// the namespace of the object can be in another cluster, which serves its kind; and another version
// of the actor can have parents of another group, so that the object has to name an owner of this
// one.
func (e *Examiner) unservedParent(o *unstructured.Unstructured, p *finalizer.Parent, group string) bool {
	named := slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return graph.Ref{APIVersion: ref.APIVersion}.Group() == group
	})
	return named && p.Scope == finalizer.SameNamespace && !e.MayBeServed(group)
}

// deselects reports whether an object has selectors of which none selects another. Of a selector
// that nobody understands it is not known.
func deselects(parent *unstructured.Unstructured, fields []string, o *unstructured.Unstructured) bool {
	some := false
	for _, field := range fields {
		value, found, err := unstructured.NestedFieldNoCopy(parent.Object, strings.Split(field, ".")...)
		if err != nil {
			return false
		}
		if !found || value == nil {
			continue
		}
		some = true
		if selected, understood := selectedBy(value, o); selected || !understood {
			return false
		}
	}
	return some
}

// selectedBy reports whether a selector selects an object: labels, a list of label selectors, or
// one of names.
func selectedBy(value any, o *unstructured.Unstructured) (selected, understood bool) {
	switch v := value.(type) {
	case string:
		return v == o.GetName(), true
	case []any:
		understood = true
		selected = slices.ContainsFunc(v, func(item any) bool {
			one, ok := selectedBy(item, o)
			understood = understood && ok
			return one
		})
		return selected, understood
	case map[string]any:
		raw, err := json.Marshal(v)
		if err != nil {
			return false, false
		}
		var selector metav1.LabelSelector
		if err := json.Unmarshal(raw, &selector); err != nil {
			return false, false
		}
		s, err := metav1.LabelSelectorAsSelector(&selector)
		return err == nil && s.Matches(labels.Set(o.GetLabels())), err == nil
	}
	return false, false
}
