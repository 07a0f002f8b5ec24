package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// maxInFlight is how many pieces of at most pieceSize can be under way in one direction of one connection: so many that the
// proxy delays and never narrows.
const (
	maxInFlight = 1 << 14
	pieceSize   = 64 << 10
)

// delayProxy passes connections on to a server as if that were far away: every byte takes half a round trip either
// way, however many are under way.
type delayProxy struct {
	listener  net.Listener
	target    string
	roundTrip time.Duration
}

// startDelayProxy listens until the context ends.
func startDelayProxy(ctx context.Context, target string, roundTrip time.Duration) (*delayProxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the delay proxy: %w", err)
	}
	p := &delayProxy{listener: listener, target: target, roundTrip: roundTrip}
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
	// What the kernel did at once would have taken a round trip before the client could send anything.
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
		p.carry(client, server, time.Time{})
	}()
	p.carry(server, client, established)
	<-back
}

// piece is what was read at once, and when it arrives.
type piece struct {
	data []byte
	due  time.Time
}

// carry delays one direction. Nothing leaves before the given time.
func (p *delayProxy) carry(to, from *net.TCPConn, notBefore time.Time) {
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
			// An empty piece is the end, which takes as long to arrive as anything else.
			pieces <- piece{data: data[:n], due: leaves.Add(p.roundTrip / 2)}
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
