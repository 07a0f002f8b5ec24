package finalizers

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// word is one of a message, which may be a kind, and behindKind are the names that follow one, perhaps
// in brackets or quotes, as in "waiting for machine [pool-1-x] to delete" and "CephBlockPool: [a b]".
var (
	word       = regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9]*`)
	behindKind = regexp.MustCompile(`^(?:\.[a-z0-9.-]+)?:? ["'\x60(\[]*([a-z0-9][-a-z0-9./ ,]*)`)
)

// awaited are the objects that a text names by kind and name as what somebody waits for, or that are being
// deleted as well where it tells of the deletion: beside the object, or where the text says.
func (e *Examiner) awaited(o *unstructured.Unstructured, says saying) (all []namer) {
	waits := status.SaysWaiting(says.message)
	if !waits && !says.ofDeletion || o.GetDeletionTimestamp() == nil || e.Many {
		return nil
	}
	for _, at := range word.FindAllStringIndex(says.message, -1) {
		names := behindKind.FindStringSubmatch(says.message[at[1]:])
		r, served := e.kindSaid(o, says.message[at[0]:at[1]], "")
		if names == nil || !served || r.Group == "" && !r.Namespaced {
			continue // where it is, as a rule: a namespace, a node
		}
		for _, name := range strings.FieldsFunc(names[1], func(c rune) bool { return c == ' ' || c == ',' }) {
			namespace := o.GetNamespace()
			if in, bare, both := strings.Cut(name, "/"); both {
				namespace, name = in, bare
			}
			if !r.Namespaced {
				namespace = ""
			}
			id, seen := e.Graph.Find(r.Group, r.Resource, namespace, strings.TrimRight(name, "."))
			if !seen || !e.Graph.Observed(id) || e.Graph.Ref(id).UID == string(o.GetUID()) || len(all) == phrase.MaxNamed {
				break // the names are over, and another word begins
			}
			if goes := e.Graph.DeletionTimestamp(id) != 0; goes || waits && status.SaysDeletion("", says.message) {
				all = append(all, namer{ref: e.Graph.Ref(id), field: says.what, told: true, deleting: goes})
			}
		}
	}
	return all
}

// actorWords are the ends of a finalizer's name that say who removes it, behind the kind for which
// that is.
var actorWords = regexp.MustCompile(`[-.]?(?:cleanup|controller|finalizer|manager|operator|protection|reconciler)$`)

// calledAfter are the objects, beside one that is being deleted, of another kind of its API group after
// which one of its finalizers is called, and that are not being deleted: whoever works on that kind put
// it there and may remove it with the last of them, as the controller of an APIServer of Calico does on
// the Installation (https://github.com/tigera/operator/issues/4103).
func (e *Examiner) calledAfter(o *unstructured.Unstructured, finalizer string) (all []namer) {
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
		namespace := ""
		if r.Namespaced {
			namespace = o.GetNamespace()
		}
		for id := range e.Graph.OfType(r.Group, r.Resource, namespace) {
			if e.Graph.Observed(id) && e.Graph.State(id) == graph.Active && len(all) < phrase.MaxNamed {
				all = append(all, namer{ref: e.Graph.Ref(id), called: finalizer})
			}
		}
	}
	return all
}
