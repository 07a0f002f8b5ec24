package env

import (
	"context"
	"strings"

	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// SayCalled says, from -v=1 on, in one line which webhooks the dry runs of a command can have
// called.
func (e *Env) SayCalled(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) {
	if !klog.V(1).Enabled() {
		return
	}
	line := "No dry runs were sent"
	if len(client.DryRuns()) > 0 {
		called, unread := diagnose.Called(ctx, client, catalog)
		line = "Dry runs were sent, and no webhook is registered for such writes"
		if len(called) > 0 {
			line = "Dry runs can have called " + strings.Join(called, ", ")
		}
		if len(unread) > 0 {
			line = strings.Join(append([]string{"Dry runs can have called webhooks that are not known"},
				append(called, unread...)...), "; ")
		}
	}
	render.Message(e.ErrOut, "", render.Escape(line))
}
