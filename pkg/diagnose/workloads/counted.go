package workloads

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// JobFinalizer keeps a pod until its Job has counted it.
const JobFinalizer = "batch.kubernetes.io/job-tracking"

// Counted returns what keeps a pod that a Job is to count. If the Job is gone nothing is left to count, and nothing is lost.
func (e *Examiner) Counted(ctx context.Context, id graph.ID) []core.Finding {
	findings := e.ByActor(ctx, id, JobFinalizer)
	for edge := range e.Graph.Owners(id) {
		if !edge.Controller || edge.Kind != "Job" {
			continue
		}
		if e.Graph.State(edge.Owner) != graph.Absent {
			return core.WithEvidence(findings, core.Observed(fmt.Sprintf("Job %s, which counts it, still exists", edge.Name))...)
		}
		findings = core.WithEvidence(findings, core.Observed(fmt.Sprintf("Job %s, which was to count it, no longer exists", edge.Name))...)
		for i := range findings {
			if findings[i].Finalizer == JobFinalizer {
				findings[i].Remedy += " The Job is gone: nothing is lost by removing it."
			}
		}
		return findings
	}
	return findings
}
