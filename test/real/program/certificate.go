package program

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/util/cert"
)

// Certificate is a directory with the files tls.crt, tls.key and ca.crt, like a mounted Secret of
// the type kubernetes.io/tls. The certificate is valid for a server on 127.0.0.1.
type Certificate struct {
	Dir string
	// CA is the certificate of its authority, in PEM.
	CA []byte
}

// NewCertificate creates a certificate. The directory is removed with the test.
func NewCertificate(t testing.TB) Certificate {
	t.Helper()
	crt, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatalf("making a certificate: %v", err)
	}
	c := Certificate{Dir: t.TempDir(), CA: crt} // the certificate of the authority follows in the same text
	for name, content := range map[string][]byte{"tls.crt": crt, "tls.key": key, "ca.crt": crt} {
		if err := os.WriteFile(filepath.Join(c.Dir, name), content, 0o600); err != nil {
			t.Fatalf("writing a certificate: %v", err)
		}
	}
	return c
}
