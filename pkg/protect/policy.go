package protect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Lifts is the annotation of an object that lifts its guards: whoever may set it may delete the object.
const Lifts = "gc.kubectl.dev/allow-deletion"

// The parts of an expression before the names of users, and before the uids of objects.
const (
	userIn = "request.userInfo.username in "
	uidIn  = "oldObject.metadata.uid in "
)

// collectors are who deletes what others have to lose once its owner, its namespace or its CRD is gone:
// that was allowed, and a denial would only leave things stuck. The names are those with which
// kube-controller-manager runs its controllers, with and without credentials for each, and that of the
// API server, which deletes the instances of a CRD.
var collectors = []string{
	"system:serviceaccount:kube-system:generic-garbage-collector",
	"system:serviceaccount:kube-system:namespace-controller",
	"system:kube-controller-manager", "system:apiserver",
}

// Policy is what guards one object.
type Policy struct {
	// Object is what is protected, and Guards are the objects whose deletion is denied.
	Object graph.Ref
	Guards []Guard
	// Except are the names of users who may delete them.
	Except []string
}

// Guard is an object whose deletion is denied.
type Guard struct {
	graph.Ref
	// Orphan says that it is denied with the policy Orphan, too.
	Orphan bool
}

// Name is that of the policy and of its binding: one for each object, of whatever name.
func (p Policy) Name() string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(p.Object.Kind+"-"+p.Object.Name))
	return "gc-protect-" + strings.Trim(name[:min(len(name), 200)], "-") + "-" + p.Object.UID
}

// Manifests are the ValidatingAdmissionPolicy (1.30 and later) and its binding. Objects are meant by
// their uids, so that a new object of a name is free. A deletion that has begun is not denied: what is
// left of it, as the last DELETE of a kubelet, has to come through.
func (p Policy) Manifests() []map[string]any {
	meta := func() map[string]any {
		return map[string]any{"name": p.Name(), "annotations": map[string]any{Protects: p.Object.Located()}}
	}
	var validations []any
	for _, orphan := range []bool{true, false} {
		var uids []string
		for _, guard := range p.Guards {
			if guard.Orphan == orphan {
				uids = append(uids, guard.UID)
			}
		}
		if len(uids) == 0 {
			continue
		}
		validations = append(validations, map[string]any{
			"expression": expression(slices.Concat(collectors, p.Except), uids, orphan), "reason": "Forbidden",
			"message": fmt.Sprintf("this would delete %s, which is protected; annotation %s lifts that, on the object to be deleted",
				phrase.Escape(p.Object.Located()), Lifts), // the server takes no line breaks in it
		})
	}
	return []map[string]any{
		{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": meta(),
			"spec": map[string]any{"failurePolicy": "Fail", "matchConstraints": map[string]any{"resourceRules": p.rules()},
				"validations": validations}},
		{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": meta(),
			"spec": map[string]any{"policyName": p.Name(), "validationActions": []any{"Deny"}}},
	}
}

// expression is true of the deletions that are allowed: that of objects with other uids, by some users,
// and of what is being deleted; and those with the policy Orphan, unless they are denied too.
func expression(users, uids []string, orphan bool) string {
	terms := []string{"oldObject == null", "has(oldObject.metadata.deletionTimestamp)", userIn + list(users),
		fmt.Sprintf("(has(oldObject.metadata.annotations) && %q in oldObject.metadata.annotations)", Lifts)}
	if !orphan {
		terms = append(terms, "(has(request.options.propagationPolicy) && request.options.propagationPolicy == 'Orphan')")
	}
	return strings.Join(append(terms, "!("+uidIn+list(uids)+")"), " || ")
}

// rules are a rule for each type. Names would not match a DELETE of a collection.
func (p Policy) rules() []any {
	var rules []any
	seen := map[[2]string]bool{}
	for _, guard := range p.Guards {
		key := [2]string{guard.Group(), guard.Resource}
		if seen[key] {
			continue
		}
		seen[key] = true
		rules = append(rules, map[string]any{"apiGroups": []any{key[0]}, "apiVersions": []any{"*"},
			"operations": []any{"DELETE"}, "resources": []any{key[1]}})
	}
	return rules
}

// list is a list of texts in CEL, whose literals may be written as in JSON.
func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		literal, _ := json.Marshal(text) // of a string
		quoted[i] = string(literal)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
