package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// The finalizers that keep a claim or a volume while it is used.
const (
	claimFinalizer  = "kubernetes.io/pvc-protection"
	volumeFinalizer = "kubernetes.io/pv-protection"
)

// volume returns who uses a PersistentVolumeClaim or a PersistentVolume, and what keeps those who do.
func (e *examiner) volume(ctx context.Context, id graph.ID, finalizer string) []finding { return nil }
