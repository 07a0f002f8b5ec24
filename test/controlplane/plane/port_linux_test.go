package plane

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The port is for one who knows it and shares it, and for nobody who asks for any.
func TestReservedPort(t *testing.T) {
	port, release, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	address := fmt.Sprintf("127.0.0.1:%d", port)
	if l, err := net.Listen("tcp", address); err == nil {
		l.Close()
		t.Error("a server that does not share took the port")
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("the reservation answers")
	}

	sharing := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		controlErr := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		if controlErr != nil {
			return controlErr
		}
		return err
	}}
	l, err := sharing.Listen(context.Background(), "tcp", address)
	if err != nil {
		t.Fatalf("a server that shares: %v", err)
	}
	defer l.Close()
	for range 100 { // each would go to the wrong socket half of the time if the reservation took connections
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
}

func TestReservedPortsDiffer(t *testing.T) {
	seen := map[int]bool{}
	for range 500 {
		port, release, err := reservePort()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if seen[port] {
			t.Fatalf("port %d was given twice", port)
		}
		seen[port] = true
	}
}
