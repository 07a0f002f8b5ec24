package cluster

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

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

// wanted says whether answers are to be compressed. It says so in the log when that is decided, and
// when it changes.
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

// traced is a request that says whether its answer is to be compressed, and tells how long that takes.
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
