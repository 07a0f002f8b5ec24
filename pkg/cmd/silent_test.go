package cmd

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// silent is a server that accepts each request and answers none.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestNoCommandWaitsForEverForASilentServer: each that asks one says within seconds what it waits
// for, and ends by itself with an error.
func TestNoCommandWaitsForEverForASilentServer(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kubeconfig := file("config", `
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {token: a}}]
current-context: a
`)
	manifest := file("manifest.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default, uid: a}\n")
	for _, args := range []string{
		"tree", "tree -A", "tree cm/a", "tree -f " + manifest, "why", "why cm/a", "check", "delete cm/a --yes",
		"delete -f " + manifest + " --yes",
		"wait cm/a", "run --yes", "run --yes --watch", "unfinalize cm/a --finalizer x/y --yes",
		"rescue cm/a --yes --archive " + filepath.Join(dir, "rescued"),
		"adopt cm/a --owner cm/b", "disown cm/a --all", "archive cm/a --to " + filepath.Join(dir, "saved"),
		"restore -f " + manifest + " --yes",
		"explain --in-cluster", "snapshot " + filepath.Join(dir, "snapshot"),
	} {
		t.Run(args, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, errOut bytes.Buffer
				end, cancel := context.WithTimeout(t.Context(), time.Hour) // of a command that would wait for ever
				defer cancel()
				ctx, bind := cluster.Bind(end)
				e := newEnv(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
				root := newRoot(e, func(config *rest.Config) {
					config.Wrap(func(http.RoundTripper) http.RoundTripper { return silent{} })
					bind(config)
				})
				root.SetArgs(append(strings.Fields(args), "--kubeconfig", kubeconfig))
				began := time.Now()
				err := root.ExecuteContext(ctx)
				if code := 0; err != nil {
					code = fail(ctx, e, err)
					if code != 1 {
						t.Errorf("exit code %d", code)
					}
				}
				if took := time.Since(began); err == nil || took < time.Minute || took > 5*time.Minute {
					t.Errorf("it ends after %s with %v", took, err)
				}
				for _, want := range []string{"waiting for the server to answer GET /", ", for 5s so far",
					"no answer to GET /api within"} {
					if !strings.Contains(errOut.String(), want) {
						t.Errorf("it does not say %q:\n%s", want, errOut.String())
					}
				}
			})
		})
	}
}
