package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// transport sends requests by way of another one.
type transport struct {
	next http.RoundTripper
	send func(*http.Request) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.send(r) }

// WrappedRoundTripper implements net.RoundTripperWrapper, by which client-go finds the transport
// below: what it closes and cancels.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// Bind returns a context that is ctx, and a function that makes every request of a configuration's
// clients end with it. kubectl's resource builder sends requests under a context that never ends;
// those end with ctx, and are bounded as those of a Client are. A request whose context comes from
// the one returned keeps it, since it may be meant to outlive ctx, as that of a write is
// (writeContext).
func Bind(ctx context.Context) (context.Context, func(*rest.Config)) {
	bound := context.WithValue(ctx, boundKey{}, true)
	return bound, func(config *rest.Config) {
		timeouts := newTimeouts(config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			bounded := timeouts.wrap(next)
			return &transport{next, func(r *http.Request) (*http.Response, error) {
				if r.Context().Value(boundKey{}) != nil {
					return next.RoundTrip(r)
				}
				return bind(bound, bounded, r)
			}}
		})
	}
}

// boundKey is of the value that the contexts that come from a bound one have.
type boundKey struct{}

// bind sends a request that ends with a context, besides its own.
func bind(with context.Context, by http.RoundTripper, r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(with, func() { cancel(context.Cause(with)) })
	release := func() { stop(); cancel(nil) }
	response, err := by.RoundTrip(r.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	response.Body = &boundBody{response.Body, release}
	return response, nil
}

// boundBody is the body of an answer, which is read under the context of its request.
type boundBody struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b *boundBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// serverClock knows by how much the API server's clock is ahead of this machine's, from the Date of
// its answers (RFC 9110, section 6.6.1).
type serverClock struct{ ahead atomic.Int64 }

// precision is what a difference is ignored below: a Date has whole seconds, and an answer is under
// way for a while.
const precision = 5 * time.Second

// now is the time by the server's clock, and by this machine's until the server has answered.
func (c *serverClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *serverClock) read(r *http.Response) {
	date, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		return
	}
	ahead := time.Until(date)
	if ahead.Abs() < precision {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}

// wrap reads the clock from every answer of a connection.
func (c *serverClock) wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{next, func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil {
			c.read(answer)
		}
		return answer, err
	}}
}

// Now returns the time by the API server's clock, which the timestamps of objects are of: the clock
// of this machine may be wrong. Until the server has answered it is this machine's. That of a dump
// stands.
func (c *Client) Now() time.Time {
	if c.still != nil {
		at, _ := c.still.AsOf()
		return at
	}
	return c.clock.now()
}

const (
	// sayAfter is how long a request is waited for before that is said, and sayEvery after how long
	// it is said again.
	sayAfter = 5 * time.Second
	sayEvery = 30 * time.Second
)

// Pending says which requests a server leaves without an answer. It is safe for concurrent use.
type Pending struct {
	say func(string)

	mu   sync.Mutex
	late int // requests that have been waited for for longer than sayAfter
	said time.Time
}

// NewPending returns a Pending that calls say with a line of text, once at a time.
func NewPending(say func(string)) *Pending { return &Pending{say: say} }

// Wrap is for a configuration's Wrap: it times the requests of all clients that are made of it.
func (w *Pending) Wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{next, func(r *http.Request) (*http.Response, error) { return w.send(next, r) }}
}

func (w *Pending) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	stop := w.begin(r)
	response, err := next.RoundTrip(r)
	stop()
	if err == nil && !isWatchRequest(r) {
		response.Body = &timedBody{
			ReadCloser: response.Body,
			begin:      func() func() bool { return w.begin(r) },
			failed:     func(err error) error { return err },
			closed:     func() {},
		}
	}
	return response, err
}

// wait is one that has not ended.
type wait struct {
	waits   *Pending
	request string
	began   time.Time
	timer   *time.Timer
	// late says that it is counted in Pending.late, and over that it has ended.
	late, over bool
}

// begin times a wait until stop is called, which returns whether nothing was said of it.
func (w *Pending) begin(r *http.Request) (stop func() bool) {
	it := &wait{waits: w, request: requestName(r), began: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	it.timer = time.AfterFunc(sayAfter, it.tell)
	return it.stop
}

// tell says what is waited for, unless something was said a moment ago.
func (t *wait) tell() {
	w := t.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.over {
		return
	}
	if !t.late {
		t.late = true
		w.late++
	}
	if next := sayEvery - time.Since(w.said); next > 0 {
		t.timer.Reset(next)
		return
	}
	w.said = time.Now()
	t.timer.Reset(sayEvery)
	others := ""
	if w.late > 1 {
		others = fmt.Sprintf(" and %d more requests", w.late-1)
	}
	w.say(fmt.Sprintf("waiting for the server to answer %s%s, for %s so far", t.request, others,
		time.Since(t.began).Round(time.Second)))
}

func (t *wait) stop() bool {
	w := t.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	t.over = true
	t.timer.Stop()
	if t.late {
		if w.late--; w.late == 0 {
			w.said = time.Time{} // what is waited for next is said in time again
		}
	}
	return !t.late
}

// nearby is the round trip below which a server is in the same data center or on the same machine.
// There gzip costs the server more time than it takes to send the bytes; on a link of 50 Mbit/s it
// makes a twentieth of them. To be wrong about a server that is near costs less than about one that
// is not.
const nearby = 3 * time.Millisecond

// ChooseCompression has the clients of a configuration ask for compressed answers or not by what
// their connection shows: the shortest round trip so far, of a TLS handshake or from a request to
// the first byte of its answer. Until one is known they are asked for. Nothing changes if the
// configuration says that there is no compression.
func ChooseCompression(config *rest.Config) {
	if config.DisableCompression {
		return
	}
	c := &compression{nearby: nearby}
	config.Wrap(c.wrap)
}

// compression knows how far a server is. It is safe for concurrent use.
type compression struct {
	nearby time.Duration
	// roundTrip is the shortest one in nanoseconds, 0 until there was one.
	roundTrip atomic.Int64
	said      atomic.Int32
}

// wrap returns a transport whose requests say whether their answers are to be compressed.
func (c *compression) wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{next, func(r *http.Request) (*http.Response, error) { return next.RoundTrip(c.traced(r)) }}
}

// took notes that an answer to something took so long.
func (c *compression) took(d time.Duration) {
	for {
		shortest := c.roundTrip.Load()
		if shortest != 0 && shortest <= int64(d) || c.roundTrip.CompareAndSwap(shortest, max(1, int64(d))) {
			return
		}
	}
}

// wanted reports whether answers are to be compressed. It says so in the log when that is decided,
// and when it changes.
func (c *compression) wanted(ctx context.Context) bool {
	shortest := time.Duration(c.roundTrip.Load())
	if shortest == 0 {
		return true
	}
	far := shortest >= c.nearby
	now := int32(1)
	if far {
		now = 2
	}
	if c.said.Swap(now) != now {
		klog.FromContext(ctx).V(1).Info("Chose by the round trip whether the server compresses answers", "compress", far,
			"roundTrip", shortest, "nearby", c.nearby)
	}
	return far
}

// traced is a request that reports whether its answer is to be compressed, and tells how long that
// takes.
func (c *compression) traced(r *http.Request) *http.Request {
	// The trace is called from other goroutines, and of a request that is sent again more than
	// once.
	var handshake, sent atomic.Pointer[time.Time]
	now := func(at *atomic.Pointer[time.Time]) {
		t := time.Now()
		at.Store(&t)
	}
	since := func(at *atomic.Pointer[time.Time]) {
		if begin := at.Swap(nil); begin != nil {
			c.took(time.Since(*begin))
		}
	}
	trace := &httptrace.ClientTrace{
		TLSHandshakeStart: func() { now(&handshake) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				since(&handshake)
			}
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { now(&sent) },
		GotFirstResponseByte: func() { since(&sent) },
	}
	compressed := c.wanted(r.Context())
	r = r.Clone(httptrace.WithClientTrace(r.Context(), trace))
	if !compressed && r.Header.Get("Accept-Encoding") == "" {
		r.Header.Set("Accept-Encoding", "identity") // without any, net/http adds gzip
	}
	return r
}
