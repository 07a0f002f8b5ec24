package finalizers

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// namesake is the evidence that a finalizer which no pack knows was put there for another object: of
// the same API group and namespace, or cluster-scoped, whose name it ends in, and how to look at that.
func (e *Examiner) namesake(o *unstructured.Unstructured, name string) ([]v1alpha1.Observation, []core.Step) {
	found := e.endingOf(o, name)
	if found.Name == "" {
		return nil, nil
	}
	state := ""
	if id, ok := e.Graph.Lookup(found.UID); ok && e.Graph.State(id) == graph.Deleting {
		state = ", which is being deleted too"
	}
	return core.Seen("%s", fmt.Sprintf("it ends in the name of %s%s: it may be there for that", found.Located(), state)),
		[]core.Step{core.At(found, core.Describe()).Safely("shows what it is there for, and whether that is to go first")}
}

// endingOf is the object in whose name a finalizer of another of its API group ends, with the longest
// name; it has none if there is none.
func (e *Examiner) endingOf(o *unstructured.Unstructured, name string) (found graph.Ref) {
	of, seen := e.Graph.Lookup(string(o.GetUID()))
	if !seen {
		return found
	}
	own := e.Graph.Ref(of)
	for _, t := range e.Graph.Types() {
		if t.Group != own.Group() || t.Group == "" {
			continue
		}
		for id := range e.Graph.OfType(t.Group, t.Resource, t.Place(own.Namespace)) {
			ref := e.Graph.Ref(id)
			if ref.UID != own.UID && endsIn(name, ref.Name) && len(ref.Name) > len(found.Name) {
				found = ref
			}
		}
	}
	return found
}

// purposes are words that a finalizer has behind a kind which are no name: bucket/cleanup.
var purposes = regexp.MustCompile(`(?i)finali[sz]|clean|protect|delet|remov|destroy|guard|hook|control|operator|manage|regist|drain|teardown|detach|release|revoke|terminat|purge|lock|external|in-use`)

// namesakeGone is for a finalizer that no pack knows and that seems to be called after an object of
// the same API group by its kind and name, as dbuser.NAME is after a DbUser
// (https://github.com/db-operator/db-operator/issues/352), where that is proven not to exist:
// whoever has put it there for the sake of that may not come to it any more. A kind before its
// group is no name.
func (e dependencies) namesakeGone(ctx context.Context, b core.Responsible) need {
	o, group := b.Object, b.Object.GroupVersionKind().Group
	if e.Many {
		return need{}
	}
	for _, r := range e.Catalog.Resources {
		name, called := calledAfter(b.Finalizer, r.Kind, group)
		called = called && r.Group == group && !b.IsKnown && !cluster.BuiltIn(group)
		if !called {
			name, called = calledWithin(b.Finalizer, r)
		}
		if r.Kind == o.GetKind() || !called || r.Namespaced && o.GetNamespace() == "" {
			continue
		}
		if ref := core.RefTo(r.Type, o.GetNamespace(), name); e.Absent(ctx, r.Type, ref) {
			return need{seen: core.Seen("it seems to be called after %s, which does not exist", ref.Located()),
				what: ref.Located() + ", after which the finalizer seems to be called and which does not exist",
				mend: "make sure that it was deleted for good, and remove the finalizer by hand"}
		}
	}
	return need{}
}

// ofVolume is the name of a PersistentVolume that a provisioner made, and of what a driver makes for
// it
// (https://github.com/deckhouse/deckhouse/issues/21698).
var ofVolume = regexp.MustCompile(`^pvc-[0-9a-f]{8}-`)

// volumeGone is for what a CSI driver made for a PersistentVolume of the same name, where that is proven
// not to exist: a driver removes its finalizer when it is asked to delete the volume, and nobody asks.
func (e dependencies) volumeGone(ctx context.Context, b core.Responsible) need {
	r, served := e.Catalog.Kind("v1", "PersistentVolume")
	if e.Many || !served || !isOfVolume(b.Object, b) {
		return need{}
	}
	ref := core.RefTo(r, "", b.Object.GetName())
	if !e.Absent(ctx, r, ref) {
		return need{}
	}
	return need{what: ref.Located() + " to be deleted through its driver, and that does not exist any more",
		mend: "make sure that nobody needs its data, and remove only this finalizer by hand",
		seen: core.Seen("it has the name of %s, which does not exist: a CSI driver deletes what it made for a volume with the volume",
			ref.Located())}
}

// isOfVolume reports whether a custom resource is what a CSI driver made for a volume, and a finalizer
// that no pack knows that of the driver.
func isOfVolume(o *unstructured.Unstructured, b core.Responsible) bool {
	words := strings.FieldsFunc(strings.ToLower(b.Finalizer), func(r rune) bool { return strings.ContainsRune("-./_", r) })
	return !b.IsKnown && !cluster.BuiltIn(o.GroupVersionKind().Group) && ofVolume.MatchString(o.GetName()) &&
		slices.Contains(words, "csi")
}

// calledAfter returns what a finalizer has behind a kind, if that can be a name.
func calledAfter(finalizer, kind, group string) (name string, called bool) {
	rest, begins := strings.CutPrefix(strings.ToLower(finalizer), strings.ToLower(kind))
	if !begins || len(rest) < 2 || rest[0] != '.' && rest[0] != '/' {
		return "", false
	}
	name = rest[1:]
	return name, validName(name) && !purposes.MatchString(name) &&
		name[strings.LastIndex(name, ".")+1:] != group[strings.LastIndex(group, ".")+1:]
}

// calledWithin returns what a finalizer has behind its domain and a kind of several words, if that can
// be a name: metacontroller.io/decoratorcontroller-NAME is there for a DecoratorController
// (https://github.com/metacontroller/metacontroller/issues/1062). The groups of the kind and of the
// finalizer begin alike.
func calledWithin(finalizer string, r cluster.Resource) (name string, called bool) {
	of, rest, slashed := strings.Cut(finalizer, "/")
	first, _, _ := strings.Cut(r.Group, ".")
	name, begins := strings.CutPrefix(rest, strings.ToLower(r.Kind)+"-")
	return name, slashed && begins && !cluster.BuiltIn(r.Group) && strings.HasPrefix(of, first+".") &&
		len(kindWords.FindAllString(r.Kind, -1)) > 1 && validName(name) && !isPurpose(name)
}

// isPurpose reports whether a name ends in a word of purpose, and so is none: the finalizer
// volumesnapshotcontent-bound-protection is called after no object, decoratorcontroller-call-removal-api
// is.
func isPurpose(name string) bool {
	if at := strings.LastIndexAny(name, "-."); !strings.HasSuffix(name, "in-use") {
		name = name[at+1:]
	}
	return purposes.MatchString(name)
}

// endsIn reports whether a finalizer ends in a name, behind what parts words.
func endsIn(finalizer, name string) bool {
	before, ends := strings.CutSuffix(finalizer, name)
	return ends && len(name) > 2 && before != "" && strings.ContainsAny(before[len(before)-1:], "./-_")
}
