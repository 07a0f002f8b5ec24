package cluster

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestRequestsWithoutAContextEndWithTheCommand: those of kubectl's resource builder, which takes
// none, while the server does not answer and while it has answered in part.
func TestRequestsWithoutAContextEndWithTheCommand(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 1))
	build := func(config *rest.Config) error {
		flags := genericclioptions.NewConfigFlags(false)
		flags.WrapConfigFn = func(*rest.Config) *rest.Config { return config }
		_, err := resource.NewBuilder(
			flags).Unstructured().NamespaceParam(ns).DefaultNamespace().ResourceTypeOrNameArgs(false,
			"configmaps/c000").Do().Infos()
		return err
	}
	part := func(began func()) faultproxy.Fault {
		return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":`))
			_ = http.NewResponseController(w).Flush()
			began()
			<-r.Context().Done()
		}
	}
	silent := func(began func()) faultproxy.Fault {
		hang := faultproxy.Hang()
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			began()
			hang(w, r, next)
		}
	}
	for name, tt := range map[string]struct {
		path  string
		fault func(func()) faultproxy.Fault
		send  func(*rest.Config) error
	}{
		"the builder, no answer":         {"/configmaps/c000", silent, build},
		"the builder, part of an answer": {"/configmaps/c000", part, build},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := faultproxy.Start(t, c.Config())
			interrupted, interrupt := context.WithCancelCause(t.Context())
			_, bind := Bind(interrupted)
			config := proxy.Config()
			bind(config)
			cause := errors.New("interrupted by the test")
			proxy.On(faultproxy.Path(tt.path), tt.fault(func() { interrupt(cause) }))
			ended := make(chan error, 1)
			go func() { ended <- tt.send(config) }()
			select {
			case err := <-ended:
				if !errors.Is(err, cause) {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it goes on after the command was interrupted")
			}
		})
	}
}

// TestWritesOutliveTheCommand: a request that has a context from the command's keeps it.
func TestWritesOutliveTheCommand(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 1))
	proxy := faultproxy.Start(t, c.Config())
	interrupted, interrupt := context.WithCancel(t.Context())
	ctx, bind := Bind(interrupted)
	config := proxy.Config()
	bind(config)
	client, err := New(config, 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := client.GetMeta(ctx, configMapType, ns, "c000")
	if err != nil {
		t.Fatal(err)
	}
	proxy.On(patches, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		interrupt()
		next.ServeHTTP(w, r)
	})
	steps := append(Unchanged(o.UID, ""), PatchStep{Op: "add", Path: "/metadata/labels/x", Value: "y"})
	if _, err := client.Patch(ctx, configMapType, ns, "c000", steps, PatchOptions{}); err != nil {
		t.Errorf("a patch that was under way: %v", err)
	}
	if _, err := client.GetMeta(context.WithoutCancel(ctx), configMapType, ns, "c000"); err != nil {
		t.Errorf("a read that is meant to go on: %v", err)
	}
	if _, err := client.GetMeta(ctx, configMapType, ns, "c000"); !errors.Is(err, context.Canceled) {
		t.Errorf("a read after that: %v", err)
	}
}
