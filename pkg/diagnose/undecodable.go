package diagnose

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// storageSayings are how the API server says that it cannot read what it has stored (API-046).
var storageSayings = []string{
	"unable to transform", "from the storage", "failed to decrypt", "no matching prefix found", "couldn't get version/kind", "unable to decode", "failed to decode",
}

// storageKey is a key of etcd as it stands in a message. How it begins can be configured, how it ends cannot.
var storageKey = regexp.MustCompile(`/[^\s":]+/[^\s":]+`)

// undecodable is for a type of which the server cannot decode an object.
func (e *examiner) undecodable(_ context.Context, gap v1alpha1.Gap) []finding {
	if !slices.ContainsFunc(storageSayings, func(s string) bool { return strings.Contains(gap.Message, s) }) {
		return nil
	}
	base := finding{
		code: ObjectUndecodable, evidence: gapClauses([]v1alpha1.Gap{gap}),
		remedy: "Restore the key, or the KMS plugin, with which it was encrypted. An object that is lost can be deleted unread, with none of its finalizers honoured, where the API server's feature gate " +
			"AllowUnsafeMalformedObjectDeletion is on; otherwise its key has to be removed from etcd.",
	}
	r, ok := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource})
	if !ok {
		about := e.typeRef(gap)
		base.about = &about
		return []finding{base}
	}
	var findings []finding
	for _, key := range storageKey.FindAllString(gap.Message, -1) {
		about, ok := stored(key, v1alpha1.ObjectRef{APIVersion: r.APIVersion(), Kind: r.Kind, Resource: r.Resource}, r.Namespaced)
		if !ok {
			continue
		}
		f := base
		f.about = &about
		path := "/api/" + r.Version
		if r.Group != "" {
			path = "/apis/" + r.APIVersion()
		}
		if about.Namespace != "" {
			path += "/namespaces/" + about.Namespace
		}
		f.commands = []func(v1alpha1.ObjectRef) string{fixedCommand("kubectl", "delete", "--raw", path+"/"+r.Resource+"/"+about.Name+"?ignoreStoreReadErrorWithClusterBreakingPotential=true")}
		findings = append(findings, f)
	}
	if len(findings) == 0 {
		about := e.typeRef(gap)
		base.about = &about
		findings = []finding{base}
	}
	return findings
}

// stored returns which object of a type a key of etcd is.
func stored(key string, ref v1alpha1.ObjectRef, namespaced bool) (v1alpha1.ObjectRef, bool) {
	parts := strings.Split(key, "/")
	n := len(parts)
	if !slices.Contains(parts[:n-1], ref.Resource) {
		return ref, false
	}
	ref.Name = parts[n-1]
	if namespaced {
		ref.Namespace = parts[n-2]
	}
	return ref, ref.Name != "" && ref.Namespace != ref.Resource
}
