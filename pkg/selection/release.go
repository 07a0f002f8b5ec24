package selection

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// releasePrefix is how an argument names a Helm release: helm/shop.
const releasePrefix = "helm/"

// revisionPrefix is how the Secrets of a release begin; its name, ".v" and the revision follow
// (pkg/storage of Helm).
const revisionPrefix = "sh.helm.release.v1."

// withReleases returns the request with the Secret of its last revision in the place of each Helm
// release that an argument names, unless the server has a type that is called so. Helm keeps a
// release in Secrets; which of them there are is asked by label.
func (r Request) withReleases(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) (Request, error) {
	var args []string
	for _, arg := range r.Args {
		name, is := strings.CutPrefix(arg, releasePrefix)
		if !is || serves(catalog, strings.TrimSuffix(releasePrefix, "/")) {
			args = append(args, arg)
			continue
		}
		secret, err := r.release(ctx, client, catalog, name)
		if err != nil {
			return r, err
		}
		args = append(args, "secret/"+secret)
	}
	r.Args = args
	return r, nil
}

// serves says whether a word is the name of a type.
func serves(catalog *cluster.Catalog, word string) bool {
	return slices.ContainsFunc(catalog.Resources, func(t cluster.Resource) bool {
		return t.Type.Resource == word || t.Singular == word || slices.Contains(t.ShortNames, word)
	})
}

// release returns the name of the Secret of the last revision of a release.
func (r Request) release(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, name string) (string,
	error) {
	secrets, ok := catalog.Lookup(schema.GroupResource{Resource: "secrets"})
	if !ok {
		return "", fmt.Errorf("reading Helm release %q: discovery does not show secrets", name)
	}
	matches, err := client.ListMatching(ctx, secrets.Type, r.Namespace,
		cluster.Selection{Labels: "owner=helm,name=" + name})
	if err != nil {
		return "", fmt.Errorf("reading Helm release %q: %w", name, err)
	}
	last, latest := "", -1
	for _, m := range matches {
		revision, isRelease := strings.CutPrefix(m.Name, revisionPrefix+name+".v")
		if n, err := strconv.Atoi(revision); isRelease && err == nil && n > latest {
			last, latest = m.Name, n
		}
	}
	if last == "" {
		return "", fmt.Errorf("reading Helm release %q: not found in namespace %q; helm list -A shows all releases", name,
			r.Namespace)
	}
	return last, nil
}
