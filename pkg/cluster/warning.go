package cluster

import (
	"context"

	"k8s.io/klog/v2"
)

// quietWarnings logs what a server warns of, for requests that nobody typed: all types are listed,
// and that some of them are deprecated is no news to who asked for a tree.
type quietWarnings struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (quietWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	if code == 299 && text != "" {
		klog.FromContext(ctx).V(2).Info("Server warning", "text", text)
	}
}
