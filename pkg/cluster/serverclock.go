package cluster

import (
	"net/http"
	"sync/atomic"
	"time"
)

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
