package cluster

import "context"

// Identity returns the uid of the namespace kube-system, by which a cluster is known from others:
// it is made once and cannot be deleted. It is empty if it cannot be read. The error is that ctx
// has ended.
func (c *Client) Identity(ctx context.Context) (string, error) {
	system, err := c.GetMeta(ctx, NamespaceType, "", "kube-system")
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", nil
	}
	return system.UID, nil
}
