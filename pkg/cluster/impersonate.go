package cluster

import (
	"errors"

	"k8s.io/client-go/rest"
)

// errImpersonates is for a client that asks as somebody else already: whether the one may
// impersonate the other is not the same question as whether the user may.
var errImpersonates = errors.New("the client impersonates somebody already")

// As returns a Client that asks as a ServiceAccount, whose groups the server adds. Each request is
// refused unless the user may impersonate it. It is for dry runs: nothing that is performed may be
// done with the rights of somebody else.
func (c *Client) As(account ServiceAccount) (*Client, error) {
	if c.config.Impersonate.UserName != "" {
		return nil, errImpersonates
	}
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: account.User()}
	as, err := New(config, c.concurrency)
	if err != nil {
		return nil, err
	}
	as.guard, as.dryRuns = c.guard, c.dryRuns
	return as, nil
}
