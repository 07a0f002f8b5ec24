package cluster

import "net/http"

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
