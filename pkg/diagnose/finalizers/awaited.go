package finalizers

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// word is one of a message, which may be a kind, perhaps with its group behind it. The names follow,
// in brackets or quotes or without: "waiting for machine [pool-1-x] to delete".
var word = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9]*)(?:\.[a-z0-9][a-z0-9.-]*)?`)

// awaited are the objects that a text names by kind and name as what somebody waits for, or that
// are being deleted as well where it tells of the deletion.
func (e *Examiner) awaited(o *unstructured.Unstructured, says saying) (all []namer) {
	waits := status.SaysWaiting(says.message)
	if !waits && !says.ofDeletion || o.GetDeletionTimestamp() == nil || e.Many {
		return nil
	}
	for _, at := range word.FindAllStringSubmatchIndex(says.message, -1) {
		var called []graph.ID
		for _, r := range e.needs.kindsSaid(o, says.message[at[2]:at[3]], "") { // of several, what has that name
			if r.Group == "" && !r.Namespaced {
				break // where it is, as a rule: a namespace, a node
			}
			called = append(called, e.calledIn(o, r, says.message[at[1]:])...)
		}
		for _, id := range called {
			n := namer{ref: e.Graph.Ref(id), field: says.what, told: true, deleting: e.Graph.DeletionTimestamp(id) != 0}
			if (n.deleting || waits && status.SaysDeletion("", says.message)) && !slices.Contains(all, n) &&
				len(all) < phrase.MaxNamed {
				all = append(all, n)
			}
		}
	}
	return all
}

// calledIn are the objects of a type whose names a text begins with, beside another object or where
// the text says.
func (e *Examiner) calledIn(beside *unstructured.Unstructured, r cluster.Resource, text string) (ids []graph.ID) {
	apart := func(c rune) bool { return strings.ContainsRune(" ,:'\"`()[]", c) }
	for name := range strings.FieldsFuncSeq(text, apart) {
		if name == "and" {
			continue
		}
		namespace := beside.GetNamespace()
		if in, bare, both := strings.Cut(name, "/"); both {
			namespace, name = in, bare
		}
		id, seen := e.Graph.Find(r.Group, r.Resource, r.Place(namespace), strings.TrimRight(name, "."))
		if !seen || !e.Graph.Observed(id) || e.Graph.Ref(id).UID == string(beside.GetUID()) {
			break // the names are over, and another word begins
		}
		ids = append(ids, id)
	}
	return ids
}

// actorWords are the ends of a finalizer's name that say who removes it, behind the kind for which
// that is.
var actorWords = regexp.MustCompile(`[-.]?(?:cleanup|controller|finalizer|manager|operator|protection|reconciler)$`)

// ofTheKind are the objects, beside one that is being deleted, of another kind of its API group
// after which one of its finalizers is called, and that are not being deleted: whoever works on that
// kind put it there and may remove it with the last of them, as the controller of an APIServer of
// Calico does on the Installation (https://github.com/tigera/operator/issues/4103).
func (e *Examiner) ofTheKind(o *unstructured.Unstructured, finalizer string) (all []namer) {
	group := o.GroupVersionKind().Group
	if cluster.BuiltIn(group) || o.GetDeletionTimestamp() == nil || e.Many {
		return nil
	}
	_, called, both := strings.Cut(strings.ToLower(finalizer), "/")
	called = strings.ReplaceAll(actorWords.ReplaceAllString(called, ""), "-", "")
	if !both || called == "" || !strings.Contains(finalizer, group) {
		return nil
	}
	for _, r := range e.Catalog.Resources {
		if r.Group != group || r.Kind == o.GetKind() || called != strings.ToLower(r.Kind) {
			continue
		}
		for id := range e.Graph.OfType(r.Group, r.Resource, r.Place(o.GetNamespace())) {
			if e.Graph.Observed(id) && e.Graph.State(id) == graph.Active && len(all) < phrase.MaxNamed {
				all = append(all, namer{ref: e.Graph.Ref(id), called: finalizer})
			}
		}
	}
	return all
}
