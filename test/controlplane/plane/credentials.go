package plane

import (
	"fmt"
	"os"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/pki"
)

// The files of the state that hold keys and tokens.
const (
	caFile         = "ca.crt"
	servingCert    = "serving.crt"
	servingKey     = "serving.key"
	frontProxyCA   = "front-proxy-ca.crt"
	frontProxyCert = "front-proxy-client.crt"
	frontProxyKey  = "front-proxy-client.key"
	tokenKey       = "service-account.key"
	tokenFile      = "tokens.csv"
)

// serviceIP is the address of the kubernetes service: the first of serviceRange.
const (
	serviceRange = "10.0.0.0/16"
	serviceIP    = "10.0.0.1"
)

// credentials are what clients of a control plane need.
type credentials struct {
	ca              []byte
	admin           string // the token of a user in system:masters
	controllerToken string // that of the controllers
}

// makeCredentials makes all keys and tokens of a control plane and writes what its components read.
func (h home) makeCredentials() (credentials, error) {
	authority, err := pki.NewAuthority("controlplane")
	if err != nil {
		return credentials{}, err
	}
	serving, err := authority.Server("kube-apiserver", "127.0.0.1", "localhost", serviceIP,
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	if err != nil {
		return credentials{}, err
	}
	// A server behind the aggregation layer trusts the API server by a chain that nobody else is
	// in.
	front, err := pki.NewAuthority("front-proxy")
	if err != nil {
		return credentials{}, err
	}
	proxy, err := front.Client("front-proxy-client")
	if err != nil {
		return credentials{}, err
	}
	signing, err := pki.SigningKey()
	if err != nil {
		return credentials{}, err
	}
	c := credentials{ca: authority.Cert, admin: pki.Token(), controllerToken: pki.Token()}
	return c, h.writeState(map[string][]byte{
		caFile:         authority.Cert,
		servingCert:    serving.Cert,
		servingKey:     serving.Key,
		frontProxyCA:   front.Cert,
		frontProxyCert: proxy.Cert,
		frontProxyKey:  proxy.Key,
		tokenKey:       signing,
		tokenFile:      tokenTable(c),
	})
}

// tokenTable is what --token-auth-file reads: token, user, uid, groups. The controllers are in
// system:masters because they do without one service account each.
func tokenTable(c credentials) []byte {
	return []byte(strings.Join([]string{
		c.admin + `,admin,admin,"system:masters"`,
		c.controllerToken + `,system:kube-controller-manager,controllers,"system:masters"`,
		"",
	}, "\n"))
}

func (h home) writeState(files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(h.state(name), content, 0o600); err != nil {
			return fmt.Errorf("writing the control plane's keys: %w", err)
		}
	}
	return nil
}
