package testcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Dump saves the lists of all types in a folder, as oc adm inspect lays them out: a file for each
// type. The folder goes with the test.
func (c *Cluster) Dump(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := save(t.Context(), c.Config(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// save saves the lists of all types that can be watched.
func save(ctx context.Context, config *rest.Config, dir string) error {
	config.QPS = -1
	disc, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	lists, err := disc.ServerPreferredResources()
	if failed := (*discovery.ErrGroupDiscoveryFailed)(nil); err != nil && !errors.As(err, &failed) {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "watch") {
				continue
			}
			path, folder := "/apis/"+list.GroupVersion, gv.Group
			if gv.Group == "" {
				path, folder = "/api/v1", "core"
			}
			file := filepath.Join(dir, "cluster-scoped-resources", folder, r.Name+".json")
			group.Go(func() error { return saveList(ctx, disc, path+"/"+r.Name, file) })
		}
	}
	return group.Wait()
}

// saveList saves one list. What the server cannot list has no file.
func saveList(ctx context.Context, disc *discovery.DiscoveryClient, path, file string) error {
	raw, err := disc.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return context.Cause(ctx)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o600)
}
