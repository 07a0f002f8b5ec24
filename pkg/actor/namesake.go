package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// ByItsName begins a clause about a workload that is called like a finalizer which no pack knows.
const ByItsName = "by its name it may belong to this: "

// maxNamesakes is how many workloads are named.
const maxNamesakes = 3

// namesakes finds the Deployments that are called like the domain of a finalizer, as cert-manager
// is like acme.cert-manager.io, and says which of them may not write the object. It is a hint for a
// person to follow, and no sign of life.
func (f *Finder) namesakes(ctx context.Context, about *unstructured.Unstructured, domain string) []string {
	word := wordOf(domain)
	if word == "" {
		return nil
	}
	r, served := f.reader.Lookup(cluster.Deployments)
	if !served {
		return nil
	}
	var refs []graph.Ref
	if err := f.reader.ForEachMeta(ctx, r.Type, func(o *graph.Object) {
		if strings.Contains(o.Name, word) || strings.Contains(o.Namespace, word) {
			refs = append(refs, graph.Ref{Namespace: strings.Clone(o.Namespace), Name: strings.Clone(o.Name)})
		}
	}); err != nil {
		return nil // it is a hint
	}
	var all []string
	for _, ref := range refs[:min(len(refs), maxNamesakes)] {
		o, err := f.reader.GetObject(ctx, cluster.Deployments, ref.Namespace, ref.Name)
		if err != nil || o == nil {
			continue
		}
		says := ByItsName + ReadWorkload(o).Says
		if may := f.Forbidden(ctx, about, Actor{Life: Alive, Workloads: []*unstructured.Unstructured{o}}); may.Concluded {
			says += "; " + may.Evidence[0].Says
		}
		all = append(all, says)
	}
	if more := len(refs) - maxNamesakes; more > 0 {
		all = append(all, fmt.Sprintf("%s more of such a name", phrase.Count(more, "Deployment")))
	}
	return all
}

// wordOf is the part of a domain that names a project: the one before the last. Those that many
// projects share name none.
func wordOf(domain string) string {
	parts := strings.Split(domain, ".")
	if len(parts) < 2 {
		return ""
	}
	word := parts[len(parts)-2]
	if len(word) < 4 || slices.Contains([]string{"kubernetes", "x-k8s", "example", "github", "services"}, word) {
		return ""
	}
	return word
}
