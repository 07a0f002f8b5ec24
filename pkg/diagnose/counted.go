package diagnose

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// jobFinalizer keeps a pod until its Job has counted it.
const jobFinalizer = "batch.kubernetes.io/job-tracking"

// counted returns what keeps a pod that a Job is to count. If the Job is gone nothing is left to count, and nothing is lost.
func (e *workloads) counted(ctx context.Context, id graph.ID) []finding {
	findings := e.byActor(ctx, id, jobFinalizer)
	for edge := range e.Graph.Owners(id) {
		if !edge.Controller || edge.Kind != "Job" {
			continue
		}
		if e.Graph.State(edge.Owner) != graph.Absent {
			return withEvidence(findings, observed(fmt.Sprintf("Job %s, which counts it, still exists", edge.Name))...)
		}
		findings = withEvidence(findings, observed(fmt.Sprintf("Job %s, which was to count it, no longer exists", edge.Name))...)
		for i := range findings {
			if findings[i].finalizer == jobFinalizer {
				findings[i].remedy += " The Job is gone: nothing is lost by removing it."
			}
		}
		return findings
	}
	return findings
}
