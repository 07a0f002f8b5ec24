package pki

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"testing"
)

// A client that trusts only the authority gets through to the server under the names that were
// asked for, and the server knows the client.
func TestHandshake(t *testing.T) {
	authority, err := NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	server, err := authority.Server("server", "127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	client, err := authority.Client("client")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority.Cert) {
		t.Fatal("the authority's certificate cannot be read")
	}
	serverPair, err := tls.X509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	clientPair, err := tls.X509KeyPair(client.Cert, client.Key)
	if err != nil {
		t.Fatal(err)
	}

	listener, err := tls.Listen("tcp", "127.0.0.1:0",
		&tls.Config{Certificates: []tls.Certificate{serverPair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if tlsConn := conn.(*tls.Conn); tlsConn.Handshake() == nil {
				_, _ = io.WriteString(conn, tlsConn.ConnectionState().PeerCertificates[0].Subject.CommonName)
			}
			conn.Close()
		}
	}()

	for name, want := range map[string]string{"127.0.0.1": "client", "localhost": "client", "elsewhere": ""} {
		config := &tls.Config{Certificates: []tls.Certificate{clientPair}, RootCAs: pool, ServerName: name}
		conn, err := tls.Dial("tcp", listener.Addr().String(), config)
		if (err == nil) != (want != "") {
			t.Errorf("server name %s: %v", name, err)
		}
		if err != nil {
			continue
		}
		got, err := io.ReadAll(conn)
		if err != nil || string(got) != want {
			t.Errorf("server name %s: the client is seen as %q (%v), want %q", name, got, err, want)
		}
		conn.Close()
	}
}

func TestTokensDiffer(t *testing.T) {
	if a, b := Token(), Token(); a == b || len(a) < 20 {
		t.Errorf("tokens %q and %q", a, b)
	}
}
