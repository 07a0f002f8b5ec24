package plane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

// startTimeout is how long one component may take to be ready; they need a second or two on an idle
// machine.
const startTimeout = 2 * time.Minute

// probe asks a server how it is.
type probe struct {
	url, token string
	client     *http.Client
}

func newProbe(url string, ca []byte, token string) (*probe, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("reading the control plane's authority: no certificate in it")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	return &probe{url: url, token: token, client: &http.Client{Transport: transport, Timeout: 5 * time.Second}}, nil
}

// ok is nil when the server answers 200.
func (p *probe) ok(ctx context.Context) error { return p.says("")(ctx) }

// says gives a check that is nil when the server answers 200 and text is in the answer.
func (p *probe) says(text string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
		if err != nil {
			return err
		}
		if p.token != "" {
			request.Header.Set("Authorization", "Bearer "+p.token)
		}
		response, err := p.client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK || !strings.Contains(string(answer), text) {
			return fmt.Errorf("%s answers %s: %s", p.url, response.Status, answer)
		}
		return nil
	}
}

// await repeats check until it is nil, the process has ended, or startTimeout is over.
func await(ctx context.Context, p *process.Process, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.Ended():
			return fmt.Errorf("it ended before it was ready (%s)", p.Outcome())
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w: %w", ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// withTail adds to err which log to read, and that many of its last lines.
func withTail(err error, log string, lines int) error {
	return fmt.Errorf("%w; read %s, which ends with:\n%s", err, log, process.Tail(log, lines))
}
