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
