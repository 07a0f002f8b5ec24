package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// timeouts is how long a server may be silent before a request counts as not answered. The time
// that a whole answer takes has no bound: the list of a large cluster is long, and a watch has no
// end.
type timeouts struct {
	// answer is for the header of a response, and for each part of its body. It is 0 if the
	// configuration bounds whole requests itself, by --request-timeout.
	answer time.Duration
	// watch is for the header of a watch, and event for what comes after it.
	watch, event time.Duration
}

// newTimeouts returns the bounds for a configuration. An API server gives itself a minute to answer
// (its --request-timeout), and may then say why it did not; it begins to answer a watch at once,
// and sends a bookmark about each minute.
func newTimeouts(config *rest.Config) *timeouts {
	p := &timeouts{answer: 75 * time.Second, watch: 30 * time.Second, event: 3 * time.Minute}
	if config.Timeout > 0 {
		p.answer = 0
	}
	return p
}

// silentError is of a request that the server did not answer, or of an answer that stopped.
type silentError struct {
	request string
	after   time.Duration
	began   bool // the answer
}

// Error says what to do about it.
func (e *silentError) Error() string {
	what := "no answer to"
	if e.began {
		what = "nothing more came of the answer to"
	}
	return fmt.Sprintf("%s %s within %s; --request-timeout sets another bound", what, e.request, e.after)
}

// Timeout is what net/http and net/url recognize a time-out by.
func (*silentError) Timeout() bool { return true }

// isSilent returns whether an error is that of a server that did not answer.
func isSilent(err error) bool {
	_, is := errors.AsType[*silentError](err)
	return is
}

// IsTimeout returns whether an error is that of a request that was not answered in time: by the
// bounds of a client, or by --request-timeout.
func IsTimeout(err error) bool { return isSilent(err) || utilnet.IsTimeout(err) }

// stopped returns whether an error is that of an answer that had begun.
func stopped(err error) bool {
	silent, is := errors.AsType[*silentError](err)
	return is && silent.began
}

func isWatchRequest(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Get("watch") == "true"
}

func requestName(r *http.Request) string { return r.Method + " " + r.URL.EscapedPath() }

// bounds returns how long a request waits for its header, and for each part of the body; 0 for
// ever.
func (p *timeouts) bounds(r *http.Request) (header, part time.Duration) {
	if isWatchRequest(r) {
		return p.watch, p.event
	}
	return p.answer, p.answer
}

func (p *timeouts) wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{next, func(r *http.Request) (*http.Response, error) {
		response, err := p.send(next, r)
		if err == nil {
			// client-go waits for whole seconds, says nothing meanwhile, and asks ten times.
			if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil &&
				seconds > int(mostRetryAfter/time.Second) {
				response.Header.Del("Retry-After")
			}
		}
		return response, err
	}}
}

// mostRetryAfter is how long a server may tell a client to wait. One that asks for more refuses.
const mostRetryAfter = time.Minute

func (p *timeouts) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	header, part := p.bounds(r)
	if header == 0 {
		return next.RoundTrip(r)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	giveUp := func(after time.Duration, began bool) *time.Timer {
		return time.AfterFunc(after, func() { cancel(&silentError{requestName(r), after, began}) })
	}
	wait := giveUp(header, false)
	response, err := next.RoundTrip(r.WithContext(ctx))
	wait.Stop()
	if err != nil {
		defer cancel(nil)
		return nil, silence(ctx, err)
	}
	response.Body = &timedBody{
		ReadCloser: response.Body,
		begin:      func() (stop func() bool) { return giveUp(part, true).Stop },
		failed:     func(err error) error { return silence(ctx, err) },
		closed:     func() { cancel(nil) },
	}
	return response, nil
}

// silence returns the silentError that ended a context, and otherwise what else failed under it.
func silence(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); isSilent(cause) && !errors.Is(err, io.EOF) {
		return cause
	}
	return err
}

// timedBody is the body of an answer, of which each read is timed: not what the reader does
// between.
type timedBody struct {
	io.ReadCloser
	begin  func() (stop func() bool)
	failed func(error) error
	closed func()
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	stop := b.begin()
	n, err := b.ReadCloser.Read(p)
	stop()
	if err != nil {
		err = b.failed(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *timedBody) Close() error {
	defer b.closed()
	return b.ReadCloser.Close()
}
