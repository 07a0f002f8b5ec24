package env

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump/serve"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// refresh has the clients ask the cluster that a snapshot is of, and take from the snapshot what
// has not changed since.
func (e *Env) refresh(ctx context.Context, d *dump.Dump) error {
	if !d.IsSnapshot() || d.Cluster == "" {
		return answer.WithHint(fmt.Errorf("--refresh: %s is no snapshot that says of which cluster it is: it was read as %s",
			e.named(), d.Kind), "kubectl gc snapshot FILE takes one")
	}
	e.refreshed = true
	client, err := e.Client()
	if err != nil {
		return err
	}
	uid, err := client.Identity(ctx)
	_, server := e.Cluster()
	switch {
	case err != nil:
		return err
	case uid == "":
		return answer.WithHint(fmt.Errorf("--refresh: it is unknown whether %s is the cluster of %s: the namespace kube-system could not be read",
			server, e.named()), "the permission to get that namespace is needed; without --refresh the snapshot is read alone")
	case uid != d.Cluster:
		return answer.WithHint(fmt.Errorf("--refresh: %s is of cluster %s, and %s is cluster %s", e.named(), d.Cluster, server, uid),
			"--context names another cluster; without --refresh the snapshot is read alone")
	}
	done := e.Doing("asking the cluster what has changed")
	lists, err := serve.Refresh(ctx, client, d)
	done()
	if err != nil {
		return err
	}
	wrap := e.Config.WrapConfigFn
	e.Config.WrapConfigFn = func(config *rest.Config) *rest.Config {
		if wrap != nil {
			config = wrap(config)
		}
		config.Wrap(lists.Wrap)
		return config
	}
	age := max(0, client.Now().Sub(d.Time)).Round(time.Second)
	line := fmt.Sprintf("Reading everything from the cluster: no list of %s (%s old) was continued", e.named(), age)
	if n := lists.Lists(); n > 0 {
		line = fmt.Sprintf("Reading %s from %s (%s old, %s since), and everything else from the cluster",
			phrase.Count(n, "long list"), e.named(), age, phrase.Count(lists.Changes, "change"))
	}
	if len(lists.Expired) > 0 {
		line += "; listing again, because the server no longer has the changes: " +
			phrase.SortedFew(phrase.Words(lists.Expired, schema.GroupResource.String))
	}
	render.Message(e.ErrOut, "", render.Escape(line))
	return nil
}
