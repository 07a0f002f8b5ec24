package cluster

import (
	"errors"

	"k8s.io/client-go/rest"
)

// errImpersonates is for a client that asks as somebody else already: whether the one may impersonate the other is not the same question as whether the user may.
var errImpersonates = errors.New("the client impersonates somebody already")

// ServiceAccount is the user name of a ServiceAccount.
func ServiceAccount(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}

// As returns a Client that asks as another user, whose groups the server adds if it is a ServiceAccount. Each request is refused unless the user may impersonate
// that one. It is for dry runs: nothing that is performed may be done with the rights of somebody else.
func (c *Client) As(user string) (*Client, error) {
	if c.config.Impersonate.UserName != "" {
		return nil, errImpersonates
	}
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	return New(config, c.concurrency)
}
