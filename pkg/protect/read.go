package protect

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Protects is the annotation of a policy that names the object which it protects.
const Protects = "gc.kubectl.dev/protects"

// Denial is what a policy that this package wrote denies, as the server has it.
type Denial struct {
	// Policy is its name, Protects names the object that it protects, and UID is the object's; empty
	// where the policy does not deny the object's own deletion.
	Policy, Protects, UID string
	// PolicyUID is the policy's own, and Applied says that a binding applies it as it was written.
	PolicyUID string
	Applied   bool
	// always are the uids of objects whose deletion is denied, and unlessOrphan of those where the
	// policy Orphan is not.
	always, unlessOrphan []string
	except               []string
}

// Read returns what a policy denies; false if this package did not write it, or somebody has changed
// what decides.
func Read(policy *unstructured.Unstructured) (Denial, bool) {
	d := Denial{Policy: policy.GetName(), PolicyUID: string(policy.GetUID()), Protects: policy.GetAnnotations()[Protects]}
	validations, _, _ := unstructured.NestedSlice(policy.Object, "spec", "validations")
	conditions, _, _ := unstructured.NestedSlice(policy.Object, "spec", "matchConditions")
	if d.Protects == "" || len(validations) == 0 || len(conditions) > 0 {
		return d, false
	}
	for _, v := range validations {
		validation, _ := v.(map[string]any)
		written, _ := validation["expression"].(string)
		d.except = listAt(written, strings.Index(written, userIn)+len(userIn))
		uids := listAt(written, strings.LastIndex(written, uidIn)+len(uidIn))
		switch written {
		case expression(d.except, uids, true):
			d.always = append(d.always, uids...)
		case expression(d.except, uids, false):
			d.unlessOrphan = append(d.unlessOrphan, uids...)
		default:
			return d, false
		}
	}
	for _, uid := range d.always { // the object is one of its guards, and the policy has its uid in the name
		if strings.HasSuffix(d.Policy, "-"+uid) {
			d.UID = uid
		}
	}
	return d, true
}

// listAt reads the list of texts that begins at an index of an expression; nil if none does.
func listAt(expression string, at int) (texts []string) {
	_ = json.NewDecoder(strings.NewReader(expression[min(at, len(expression)):])).Decode(&texts)
	return texts
}

// Denies reports whether the deletion of the object with a uid is denied, by anybody who is not
// excepted.
func (d Denial) Denies(uid string, orphan bool) bool {
	return slices.Contains(d.always, uid) || !orphan && slices.Contains(d.unlessOrphan, uid)
}

// DeniesTo reports whether the policy, as it is applied, denies a user the deletion of an object
// now.
func (d Denial) DeniesTo(user string, g *graph.Graph, id graph.ID, orphan bool) bool {
	_, lifted := g.Annotations(id)[Lifts]
	return d.Applied && d.Denies(g.Ref(id).UID, orphan) && !d.Excepts(user) && !lifted && g.State(id) != graph.Deleting
}

// Users are those whom the policy excepts besides the controllers that it always does.
func (d Denial) Users() []string {
	return slices.DeleteFunc(slices.Clone(d.except), func(user string) bool { return slices.Contains(collectors, user) })
}

// Missing are the objects of which one DELETE would delete an object, and whose deletion its policy
// could deny and does not.
func Missing(g *graph.Graph, links *link.Links, id graph.ID, d Denial) (missing []graph.Ref) {
	for _, guard := range Guards(g, links, id) {
		ref := g.Ref(guard.ID)
		if !d.Denies(ref.UID, guard.Orphan) && !cluster.IsImmortal(ref) && !configures(ref) &&
			g.State(guard.ID) != graph.Deleting {
			missing = append(missing, ref)
		}
	}
	return missing
}

// Excepts reports whether a user may delete what others may not.
func (d Denial) Excepts(user string) bool { return slices.Contains(d.except, user) }

// Stored returns what the policies of a cluster deny, of those that this package wrote; none if they
// or their bindings cannot be listed. The error is the end of ctx.
func Stored(ctx context.Context, reader *cluster.Reader) ([]Denial, error) {
	policies, err := reader.ListObjects(ctx, admission.ValidatingPolicies, "", cluster.Selection{})
	var all []Denial
	for _, o := range policies {
		if d, ok := Read(o); ok {
			all = append(all, d)
		}
	}
	if err != nil || len(all) == 0 {
		return nil, context.Cause(ctx)
	}
	bindings, err := reader.ListObjects(ctx, admission.Bindings(admission.ValidatingPolicies), "", cluster.Selection{})
	if err != nil {
		return nil, context.Cause(ctx)
	}
	for i := range all {
		all[i].Applied = slices.ContainsFunc(bindings, all[i].isAppliedBy)
	}
	return all, nil
}

// isAppliedBy reports whether a binding applies the policy to all that it is about, and denies.
func (d Denial) isAppliedBy(binding *unstructured.Unstructured) bool {
	name := status.Nested(binding, "spec", "policyName")
	actions, _, _ := unstructured.NestedStringSlice(binding.Object, "spec", "validationActions")
	_, narrows, _ := unstructured.NestedMap(binding.Object, "spec", "matchResources")
	return name == d.Policy && !narrows && slices.Contains(actions, string(admissionv1.Deny))
}

// denies reports whether an error is the denial of a policy, which the server names in it; of any
// if no name is given.
func denies(err error, policy string) bool {
	named := "ValidatingAdmissionPolicy '"
	if policy != "" {
		named += policy + "'"
	}
	return (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) && strings.Contains(err.Error(), named)
}
