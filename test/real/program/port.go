package program

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"testing"
)

// Port finds a free port on 127.0.0.1, for a program that must be given one.
func Port(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("finding a free port: %v", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// ServesTLS reports whether a TLS server, such as an admission webhook, answers on a port of 127.0.0.1.
func ServesTLS(ctx context.Context, port int) bool {
	// The connection is only a test that the server answers.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
