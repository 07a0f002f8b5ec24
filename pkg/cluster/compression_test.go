package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestCompressionFollowsTheRoundTrip: the first request asks for compressed answers, and those that
// know the round trip ask for them if the server is far.
func TestCompressionFollowsTheRoundTrip(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nearby time.Duration
		want   []string
	}{
		"near": {time.Hour, []string{"gzip", "identity", "identity"}},
		"far":  {time.Nanosecond, []string{"gzip", "gzip", "gzip"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Header.Get("Accept-Encoding"))
			}))
			t.Cleanup(server.Close)
			link := &compression{nearby: test.nearby}
			client := http.Client{Transport: link.wrap(server.Client().Transport)}
			for range test.want {
				answer, err := client.Get(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
			}
			if got := strings.Join(asked, " "); got != strings.Join(test.want, " ") {
				t.Errorf("Accept-Encoding is %s, want %s", got, test.want)
			}
		})
	}
}

// TestRoundTripIsTheShortest: what a server took once to make an answer says nothing of the way to
// it.
func TestRoundTripIsTheShortest(t *testing.T) {
	t.Parallel()
	c := &compression{nearby: 3 * time.Millisecond}
	for _, step := range []struct {
		took time.Duration
		want bool
	}{{50 * time.Millisecond, true}, {time.Second, true}, {2 * time.Millisecond, false}, {time.Second, false},
		{0, false}} {
		c.took(step.took)
		if got := c.wanted(t.Context()); got != step.want {
			t.Errorf("after an answer in %s: compressed %t, want %t", step.took, got, step.want)
		}
	}
}

// TestNoCompressionStaysNone: a kubeconfig with disable-compression is not asked.
func TestNoCompressionStaysNone(t *testing.T) {
	t.Parallel()
	config := &rest.Config{DisableCompression: true}
	ChooseCompression(config)
	if config.WrapTransport != nil {
		t.Error("the transport is wrapped")
	}
}
