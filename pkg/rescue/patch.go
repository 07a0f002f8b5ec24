package rescue

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

const owners = "/metadata/ownerReferences"

// removal removes the references of an object to an owner, the last first, each after a test that it is there; none if it has none.
func removal(o *unstructured.Unstructured, uid string) []cluster.PatchStep {
	var steps []cluster.PatchStep
	for _, r := range slices.Backward(referencesTo(o, uid)) {
		path := fmt.Sprintf("%s/%d", owners, r.Index)
		steps = append(steps, cluster.PatchStep{Op: "test", Path: path + "/uid", Value: uid}, cluster.PatchStep{Op: "remove", Path: path})
	}
	return unchanged(o, steps)
}

// adoption gives an object references to a new owner, as it had them to the old one: at their place in the list, with their flags. References to the old owner that
// are still there are changed. There are no steps if it has a reference to the new owner, or if it must not get one; why says which controller it has then.
func adoption(o *unstructured.Unstructured, references []Reference, old, now string) (steps []cluster.PatchStep, why string) {
	list := o.GetOwnerReferences()
	if len(referencesTo(o, now)) > 0 {
		return nil, ""
	}
	for _, r := range referencesTo(o, old) {
		path := fmt.Sprintf("%s/%d/uid", owners, r.Index)
		steps = append(steps, cluster.PatchStep{Op: "test", Path: path, Value: old}, cluster.PatchStep{Op: "replace", Path: path, Value: now})
	}
	if len(steps) > 0 {
		return unchanged(o, steps), ""
	}
	for _, r := range references {
		if isController(r.OwnerReference) {
			if i := slices.IndexFunc(list, isController); i >= 0 {
				return nil, fmt.Sprintf("it has another controller by now: %s/%s", list[i].Kind, list[i].Name)
			}
		}
		r.UID = types.UID(now)
		if len(list) == 0 {
			steps = append(steps, cluster.PatchStep{Op: "add", Path: owners, Value: []metav1.OwnerReference{r.OwnerReference}})
			list = []metav1.OwnerReference{r.OwnerReference}
			continue
		}
		place := min(r.Index, len(list))
		steps = append(steps, cluster.PatchStep{Op: "add", Path: fmt.Sprintf("%s/%d", owners, place), Value: r.OwnerReference})
		list = slices.Insert(list, place, r.OwnerReference)
	}
	return unchanged(o, steps), ""
}

func isController(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }

// unchanged puts the tests before the steps that the object is as it was read; no steps need none.
func unchanged(o *unstructured.Unstructured, steps []cluster.PatchStep) []cluster.PatchStep {
	if len(steps) == 0 {
		return nil
	}
	return append(cluster.Unchanged(string(o.GetUID()), o.GetResourceVersion()), steps...)
}
