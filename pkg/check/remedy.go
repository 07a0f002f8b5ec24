package check

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// step is one operation of a JSON patch.
type step struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitzero"`
}

// patch is the command that changes one reference of an object, if it still has the uid.
func (f *finder) patch(o judged, i int, steps ...step) string {
	all := append([]step{{"test", fmt.Sprintf("/metadata/ownerReferences/%d/uid", i), f.Graph.Ref(o.refs[i].Owner).UID}},
		steps...)
	text, _ := json.Marshal(all) // of strings and booleans
	args := append([]string{"kubectl", "patch"}, f.Graph.Ref(o.id).Arguments()...)
	return phrase.Command(append(args, "--type=json", "-p", string(text))...)
}

// removal is the command that removes a reference.
func (f *finder) removal(o judged, i int) string {
	return f.patch(o, i, step{Op: "remove", Path: fmt.Sprintf("/metadata/ownerReferences/%d", i)})
}

// replacement is the command that sets a field of a reference.
func (f *finder) replacement(o judged, i int, field string, value any) string {
	return f.patch(o, i, step{"replace", fmt.Sprintf("/metadata/ownerReferences/%d/%s", i, field), value})
}

// remedy says what to do about a reference.
func (f *finder) remedy(o judged, i int, finding *v1alpha1.CheckFinding) {
	e := o.refs[i]
	path := func(field string) string { return fmt.Sprintf("/metadata/ownerReferences/%d/%s", i, field) }
	remove := f.removal(o, i)
	correct := ""
	switch Code(finding.Code) {
	case OwnerAbsent:
		finding.Remedy = "Remove the reference if the object is still needed; otherwise delete the object."
		if Effect(finding.Effect) == RemoveReference {
			finding.Remedy = "Remove the reference."
		}
	case OwnerReplaced:
		finding.Remedy = "If the new object is to own this one, set its uid. Otherwise remove the reference, or delete the object."
		if finding.Instead != nil {
			correct = f.replacement(o, i, "uid", finding.Instead.UID)
		}
	case WrongName:
		finding.Remedy = "Correct the name, or remove the reference."
		correct = f.replacement(o, i, "name", finding.Instead.Name)
	case WrongKind:
		finding.Remedy = "Correct the kind, or remove the reference."
		correct = f.patch(o, i, step{"replace", path("apiVersion"), finding.Instead.APIVersion},
			step{"replace", path("kind"), finding.Instead.Kind}, step{"replace", path("name"), finding.Instead.Name})
	case WrongNamespace:
		finding.Remedy = "Remove the reference: an owner has to be in the namespace of its dependent, or cluster-scoped."
	case WrongScope:
		finding.Remedy = "Remove the reference: the owner of a cluster-scoped object has to be cluster-scoped."
	case KindNotServed:
		finding.Remedy = "Remove the reference, or install what serves the kind again."
	case VersionNotServed:
		finding.Remedy = "Correct the version, or remove the reference."
		correct = f.replacement(o, i, "apiVersion", f.versions(e)[0])
	case InexactKind:
		finding.Remedy = "Spell the kind as it is served."
		if exact := f.exactKinds(e); len(exact) == 1 {
			correct = f.replacement(o, i, "kind", exact[0].Kind)
		}
		remove = ""
	case SelfReference:
		finding.Remedy = "Remove the reference."
	case OwnerUnknown:
		finding.Remedy, remove = "Run the command again as a user who may read the owner, or when its API is available.", ""
		if slices.ContainsFunc(f.Gaps, func(g v1alpha1.Gap) bool { return g.Reason == v1alpha1.GapNotSaved }) {
			finding.Remedy = "Look at the cluster, or at a dump that has all objects of the owner's type."
		}
	case OwnerNotCollected:
		finding.Remedy = "Remove the reference if the object must be deleted with its owner in time, and delete the object otherwise."
	default: // it is in order
		return
	}
	for _, command := range []string{correct, remove} {
		if command != "" {
			finding.Commands = append(finding.Commands, command)
		}
	}
}
