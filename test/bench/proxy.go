package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// maxInFlight is how many pieces of at most pieceSize can be under way in one direction of one
// connection: so many that it is the link alone that narrows.
const (
	maxInFlight = 1 << 14
	pieceSize   = 64 << 10
)

// link is the way to a server.
type link struct {
	roundTrip time.Duration
	// bits is how many of them go one way in a second, of all connections together; 0 for as many
	// as come.
	bits float64
}

// delayProxy passes connections on to a server as if that were far away: every byte takes half a
// round trip either way, and waits for those that come before it over a narrow link.
type delayProxy struct {
	listener net.Listener
	target   string
	link
	toServer, toClient direction
}

// direction is one way of a link.
type direction struct {
	mu   sync.Mutex
	free time.Time // when what was sent before has left
	sent atomic.Int64
}

// leaves says when some bytes that come now have left.
func (d *direction) leaves(now time.Time, bytes int, bits float64) time.Time {
	d.sent.Add(int64(bytes))
	if bits == 0 {
		return now
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(time.Duration(float64(bytes) * 8 / bits * float64(time.Second)))
	return d.free
}

// startDelayProxy listens until the context ends.
func startDelayProxy(ctx context.Context, target string, l link) (*delayProxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the delay proxy: %w", err)
	}
	p := &delayProxy{listener: listener, target: target, link: l}
	context.AfterFunc(ctx, func() { listener.Close() })
	go p.serve(ctx)
	return p, nil
}

func (p *delayProxy) address() string { return p.listener.Addr().String() }

func (p *delayProxy) serve(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go p.pass(ctx, client.(*net.TCPConn))
		}
	}
}

// pass carries one connection until both its directions have ended.
func (p *delayProxy) pass(ctx context.Context, client *net.TCPConn) {
	defer client.Close()
	// What the kernel did at once would have taken a round trip before the client could send
	// anything.
	established := time.Now().Add(p.roundTrip)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	server := conn.(*net.TCPConn)
	defer server.Close()
	stop := context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})
	defer stop()
	back := make(chan struct{})
	go func() {
		defer close(back)
		p.carry(client, server, &p.toClient, time.Time{})
	}()
	p.carry(server, client, &p.toServer, established)
	<-back
}

// piece is what was read at once, and when it arrives.
type piece struct {
	data []byte
	due  time.Time
}

// carry delays one direction. Nothing leaves before the given time.
func (p *delayProxy) carry(to, from *net.TCPConn, way *direction, notBefore time.Time) {
	pieces := make(chan piece, maxInFlight)
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, pieceSize)
			n, err := from.Read(data)
			leaves := time.Now()
			if leaves.Before(notBefore) {
				leaves = notBefore
			}
			leaves = way.leaves(leaves, n, p.bits)
			// An empty piece is the end, which takes as long to arrive as anything else.
			pieces <- piece{data: data[:n], due: leaves.Add(p.roundTrip / 2)}
			if p.bits > 0 {
				time.Sleep(time.Until(leaves)) // a link takes no more than it can send
			}
			if err != nil {
				return
			}
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for piece := range pieces {
		timer.Reset(time.Until(piece.due))
		<-timer.C
		if _, err := to.Write(piece.data); err != nil {
			from.Close() // ends the reader
		}
	}
	if err := to.CloseWrite(); err != nil && !errors.Is(err, io.EOF) {
		to.Close()
	}
}
