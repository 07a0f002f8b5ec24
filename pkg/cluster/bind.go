package cluster

import (
	"context"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

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
			return &binder{bound, next, timeouts.wrap(next)}
		})
	}
}

// boundKey is of the value that the contexts that come from a bound one have.
type boundKey struct{}

type binder struct {
	ctx           context.Context
	next, bounded http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b *binder) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Value(boundKey{}) != nil {
		return b.next.RoundTrip(r)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })
	release := func() { stop(); cancel(nil) }
	response, err := b.bounded.RoundTrip(r.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	response.Body = &boundBody{response.Body, release}
	return response, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper, by which client-go finds the transport
// below.
func (b *binder) WrappedRoundTripper() http.RoundTripper { return b.next }

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
