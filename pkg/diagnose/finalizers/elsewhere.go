package finalizers

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// elsewhere are the objects that have the kind and the name of what a warning since the deletion did
// not find, where it does not say in which namespace: whoever warned looked in another, as net-istio
// for a Gateway (https://github.com/knative-extensions/net-istio/issues/1407).
func (e dependencies) elsewhere(ctx context.Context, o *unstructured.Unstructured) (seen []v1alpha1.Observation) {
	if e.Many || o.GetDeletionTimestamp() == nil {
		return nil
	}
	for _, w := range e.WarnedSince(ctx, o, o.GetDeletionTimestamp().Time) {
		for _, m := range notFound[0].FindAllStringSubmatch(strings.ReplaceAll(w.Message, `\"`, `"`), -1) {
			r, ok := e.kindSaid(o, m[2], strings.TrimPrefix(m[3], "."))
			if !ok || !r.Namespaced || m[5] != "" || !byTheAPI(r, m[2], m[3]) || len(validation.IsDNS1123Subdomain(m[4])) > 0 {
				continue
			}
			all, err := e.Reader.ListObjectMetas(ctx, r.GroupResource(), "", cluster.Selection{Fields: "metadata.name=" + m[4]})
			if err != nil {
				continue // and the reader has noted the gap
			}
			for _, found := range all[:min(len(all), phrase.MaxNamed)] {
				if !found.GetCreationTimestamp().After(w.Last) {
					seen = append(seen, core.ObservedAt(cluster.Place(found, "metadata"), fmt.Sprintf(
						"%s exists: warning %s is about another namespace, or out of date", cluster.Located(found), w.Reason))...)
				}
			}
		}
	}
	return seen
}

// byTheAPI reports whether a word names a type as the server or the listers of a controller do: by its
// plural, or in the singular by its group as well. A kind alone can mean what is outside the cluster.
func byTheAPI(r cluster.Resource, word, group string) bool {
	return word == r.Resource || group == "."+r.Group && strings.EqualFold(word, r.Kind)
}
