package main

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// TestDelayProxy sends more than what would be under way at once through a connection that answers
// what it gets.
func TestDelayProxy(t *testing.T) {
	const roundTrip = 60 * time.Millisecond
	echo := newEcho(t)
	p, err := startDelayProxy(t.Context(), echo.Addr().String(), link{roundTrip: roundTrip})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	one := make([]byte, 1)
	for i, want := range []time.Duration{2 * roundTrip, roundTrip} { // the first with what it takes to connect
		if i > 0 {
			begin = time.Now()
		}
		if _, err := conn.Write([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, one); err != nil || one[0] != byte(i) {
			t.Fatalf("read %v, %v", one, err)
		}
		if taken := time.Since(begin); taken < want {
			t.Errorf("answer %d took %s, want at least %s", i, taken, want)
		}
	}

	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	begin = time.Now()
	go func() {
		_, _ = conn.Write(sent) // a lost byte is missing from the echo
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, sent) {
		t.Errorf("read %d bytes, not the %d that were sent", len(got), len(sent))
	}
	if taken := time.Since(begin); taken < roundTrip {
		t.Errorf("%d bytes took %s, want at least %s", len(sent), taken, roundTrip)
	}
}

// TestDelayProxyNeverNarrows: more is taken than the kernel keeps, although nothing of it arrives.
func TestDelayProxyNeverNarrows(t *testing.T) {
	p, err := startDelayProxy(t.Context(), newEcho(t).Addr().String(), link{roundTrip: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if n, err := conn.Write(make([]byte, 32<<20)); err != nil {
		t.Errorf("%d bytes were taken, then %v", n, err)
	}
}

// newEcho answers each connection with what it sends.
func newEcho(t *testing.T) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener
}

// TestNarrowLink: what goes one way shares it, and takes the time that its bytes take.
func TestNarrowLink(t *testing.T) {
	const bits = 8_000_000
	p, err := startDelayProxy(t.Context(), newEcho(t).Addr().String(), link{bits: bits})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	const connections, size = 2, 100_000
	done := make(chan int, connections)
	for range connections {
		conn, err := net.Dial("tcp", p.address())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go func() {
			_, _ = conn.Write(make([]byte, size)) // a lost byte is missing from the echo
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		go func() {
			got, _ := io.ReadAll(conn)
			done <- len(got)
		}()
	}
	for range connections {
		if got := <-done; got != size {
			t.Errorf("read %d bytes, want %d", got, size)
		}
	}
	if taken, want := time.Since(begin), time.Duration(connections*size*8*int(time.Second)/bits); taken < want {
		t.Errorf("%d bytes took %s, want at least %s", connections*size, taken, want)
	}
	if got := p.toClient.sent.Load(); got != connections*size {
		t.Errorf("%d bytes were counted, want %d", got, connections*size)
	}
}
