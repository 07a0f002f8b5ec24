package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// protections checks the policies of kubectl gc protect: whether each is applied, denies every deletion
// that would delete its object, and whether that still exists. If the policies cannot be listed,
// nothing is said. The error is the end of ctx, or one that every request would meet.
func (c *checker) protections(ctx context.Context, q *selection.Query, links []*link.Definition,
	report *v1alpha1.CheckReport) error {
	all, err := protect.Stored(ctx, cluster.NewReader(c.client, c.listing.Catalog))
	if err != nil {
		return err
	}
	g := c.listing.Graph
	guarded := map[graph.ID]protect.Denial{}
	var ids []graph.ID
	for _, d := range all {
		id, there := g.Lookup(d.UID)
		there = there && g.Observed(id)
		policy, listed := g.Lookup(d.PolicyUID)
		switch {
		case there && c.of[id]:
			guarded[id] = d
			ids = append(ids, id)
		case !there && d.UID != "" && listed && c.of[policy] && q.Scope == "" && len(report.Gaps) == 0:
			report.Findings = append(report.Findings, uselessPolicy(g.Ref(policy), d))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	above, err := c.above(ctx, q, links, ids)
	if err != nil {
		return err
	}
	report.Gaps = phrase.Union(report.Gaps, above.Gaps)
	for _, id := range ids {
		at, there := above.Graph.Lookup(guarded[id].UID)
		if !there { // deleted meanwhile
			continue
		}
		// Looking through a large graph knows no context.
		found, err := interrupt.Do(ctx, func() ([]v1alpha1.CheckFinding, error) {
			return protection(above.Graph, above.Links, at, guarded[id]), nil
		})
		if err != nil {
			return err
		}
		report.Findings = append(report.Findings, found...)
	}
	return nil
}

// above finds what stands above objects, links among it. If a link leads out of what was listed,
// everything is.
func (c *checker) above(ctx context.Context, q *selection.Query, links []*link.Definition,
	ids []graph.ID) (*ownership.Ownership, error) {
	request := ownership.Request{Graph: c.listing.Graph, Scope: q.Scope, Roots: ids, Upwards: true, Definitions: links}
	above, err := ownership.Find(ctx, c.client, c.listing.Catalog, request)
	if err != nil || !above.Elsewhere {
		return above, err
	}
	everywhere := *q
	everywhere.Scope = ""
	listing, err := everywhere.List(ctx)
	if err != nil {
		return nil, err
	}
	request.Graph, request.Scope, request.Roots = listing.Graph, "", nil
	for _, id := range ids {
		if at, there := listing.Graph.Lookup(c.listing.Graph.Ref(id).UID); there {
			request.Roots = append(request.Roots, at)
		}
	}
	if above, err = ownership.Find(ctx, c.client, listing.Catalog, request); err == nil {
		above.Gaps = slices.Concat(listing.Gaps, above.Gaps)
	}
	return above, err
}

// protection are the findings about an object that a policy is to protect.
func protection(g *graph.Graph, links *link.Links, id graph.ID, d protect.Denial) (all []v1alpha1.CheckFinding) {
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
	if missing := protect.Missing(g, links, id, d); len(missing) > 0 {
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
