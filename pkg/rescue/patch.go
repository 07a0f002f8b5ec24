package rescue

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// removal removes the references of an object to an owner, the last first, each after a test that
// it is there; none if it has none.
func removal(o *unstructured.Unstructured, uid string) []cluster.PatchStep {
	var steps []cluster.PatchStep
	for _, r := range slices.Backward(referencesTo(o, uid)) {
		steps = append(steps, change.RemoveReference(r.Index, uid)...)
	}
	return steps
}

// adoption gives an object references to a new owner, as it had them to the old one: at their place
// in the list, with their flags. References to the old owner that are still there are changed.
// There are no steps if it has a reference to the new owner, or if it must not get one; why says
// which controller it has then.
func adoption(o *unstructured.Unstructured, references []Reference, old, now string) (steps []cluster.PatchStep,
	why string) {
	list := o.GetOwnerReferences()
	if len(referencesTo(o, now)) > 0 {
		return nil, ""
	}
	for _, r := range referencesTo(o, old) {
		steps = append(steps, change.SetInReference(r.Index, old, "uid", now)...)
	}
	if len(steps) > 0 {
		return steps, ""
	}
	for _, r := range references {
		if isController(r.OwnerReference) {
			if i := slices.IndexFunc(list, isController); i >= 0 {
				return nil, fmt.Sprintf("it has another controller by now: %s/%s", list[i].Kind, list[i].Name)
			}
		}
		r.UID = types.UID(now)
		place := min(r.Index, len(list))
		steps = append(steps, change.AddReference(place, len(list), r.OwnerReference))
		list = slices.Insert(list, place, r.OwnerReference)
	}
	return steps, ""
}

func isController(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }
