package check

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
)

// protections checks the policies of kubectl gc protect: whether each is applied, denies every deletion
// that would delete its object, and whether that still exists. Links of packs are not looked at: that
// needs kubectl gc protect itself. If the policies cannot be listed, nothing is said. The error is the
// end of ctx.
func (c *checker) protections(ctx context.Context, scope string, report *v1alpha1.CheckReport) error {
	all, err := protect.Stored(ctx, cluster.NewReader(c.client, c.listing.Catalog))
	if err != nil {
		return err
	}
	g := c.listing.Graph
	for _, d := range all {
		id, there := g.Lookup(d.UID)
		there = there && g.Observed(id)
		policy, listed := g.Lookup(d.PolicyUID)
		switch {
		case there && c.of[id]:
			found, err := interrupt.Do(ctx, func() ([]v1alpha1.CheckFinding, error) { return protection(g, id, d), nil })
			if err != nil {
				return err
			}
			report.Findings = append(report.Findings, found...)
		case !there && d.UID != "" && listed && c.of[policy] && scope == "" && len(report.Gaps) == 0:
			report.Findings = append(report.Findings, uselessPolicy(g.Ref(policy), d))
		}
	}
	return nil
}

// protection are the findings about an object that a policy is to protect.
func protection(g *graph.Graph, id graph.ID, d protect.Denial) (all []v1alpha1.CheckFinding) {
	ref := g.Ref(id)
	args := append([]string{"kubectl", "gc", "protect"}, ref.Arguments()...)
	for _, user := range d.Users() {
		args = append(args, "--except-user="+user)
	}
	add := func(code Code, message, consequence string) {
		all = append(all, v1alpha1.CheckFinding{Object: ref, Code: string(code), Severity: string(byCode[code].Severity),
			Effect: string(Undetermined), Message: message, Consequence: consequence,
			Remedy:   "Print the policy again and apply it, or delete it if the object needs no protection.",
			Commands: []string{phrase.Command(args...) + " | kubectl apply -f -"}})
	}
	if !d.Applied {
		add(ProtectionNotApplied, fmt.Sprintf("policy %s is to protect the object, and no binding applies it", d.Policy),
			"the server denies none of the deletions that would delete the object")
		return all
	}
	if missing := protect.Missing(g, link.New(g), id, d); len(missing) > 0 {
		names := phrase.FirstFew(phrase.Words(missing, graph.Ref.Located), mostNamed)
		add(ProtectionIncomplete, fmt.Sprintf("policy %s protects the object, and does not deny the deletion of %s", d.Policy, names),
			"that deletion would delete the object")
	}
	return all
}

// mostNamed is how many objects a message names.
const mostNamed = 3

// uselessPolicy is the finding about a policy whose object is gone.
func uselessPolicy(policy graph.Ref, d protect.Denial) v1alpha1.CheckFinding {
	return v1alpha1.CheckFinding{Object: policy, Code: string(ProtectedAbsent),
		Severity: string(byCode[ProtectedAbsent].Severity), Effect: string(Reject),
		Message:     d.Protects + ", which the policy protects, does not exist",
		Consequence: "the server still denies the deletion of what would have deleted it",
		Remedy:      "Delete the policy and its binding.",
		Commands: []string{phrase.Command("kubectl", "delete",
			"validatingadmissionpolicies,validatingadmissionpolicybindings", d.Policy)},
	}
}
