package cluster

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
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
		return c.still.AsOf()
	}
	return c.clock.now()
}
