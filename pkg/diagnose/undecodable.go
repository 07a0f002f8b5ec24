package diagnose

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// storageSayings are how the API server says that it cannot read what it has stored (API-046).
var storageSayings = []string{
	"unable to transform", "from the storage", "failed to decrypt", "no matching prefix found", "object not decodable",
	"couldn't get version/kind", "json parse error", "illegal base64 data", "proto: ", "wireType", `no kind "`,
}

// storageKey is a key of etcd as it stands in a message, with what can follow it. How it begins can be configured, how it ends cannot; names can contain
// colons.
var storageKey = regexp.MustCompile(`/[^\s"]+/[^\s"]+`)

// undecodable is for a type of which the server cannot decode an object.
func (e *unlisted) undecodable(_ context.Context, gap v1alpha1.Gap) []core.Finding {
	if !slices.ContainsFunc(storageSayings, func(s string) bool { return strings.Contains(gap.Message, s) }) {
		return nil
	}
	base := core.Finding{
		Code: core.ObjectUndecodable, Evidence: core.Observed(core.GapClauses([]v1alpha1.Gap{gap})...),
	}
	about := e.typeRef(gap)
	base.About = &about
	r, ok := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource})
	if !ok {
		return []core.Finding{base}
	}
	var findings []core.Finding
	for _, key := range keys(gap.Message) {
		about, ok := stored(key, v1alpha1.ObjectRef{APIVersion: r.APIVersion(), Kind: r.Kind, Resource: r.Resource}, r.Namespaced)
		if ok {
			f := base
			f.About, f.DataLoss, f.Commands = &about, true, unreadSteps()
			findings = append(findings, f)
		}
	}
	if len(findings) == 0 {
		return []core.Finding{base}
	}
	return core.Distinct(findings)
}

// unsafeDelete is the verb that deleting an object unread needs besides delete (API-045).
const unsafeDelete = "unsafe-delete-ignore-read-errors"

// unreadSteps ask whether the user may delete an object unread, and do it.
func unreadSteps() []core.Step {
	return []core.Step{
		core.Command("kubectl", "auth", "can-i", unsafeDelete, "OBJECT").Doing("asks whether you have the verb that it needs").Risking(finalizer.RiskNone),
		core.Step{Write: deleteUnread}.Doing("deletes the object unread, with none of its finalizers honoured").Risking(finalizer.DataLoss),
	}
}

// keys returns the keys in a message.
func keys(message string) []string {
	found := storageKey.FindAllString(message, -1)
	for i := range found {
		found[i] = strings.TrimRight(found[i], ":;,")
	}
	return found
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

// deleteUnread is the command that deletes an object that the server cannot read. Where the feature gate is off the server ignores what makes it special
// (API-045).
func deleteUnread(o v1alpha1.ObjectRef) string {
	path := "/apis/" + o.APIVersion
	if !strings.Contains(o.APIVersion, "/") {
		path = "/api/" + o.APIVersion
	}
	if o.Namespace != "" {
		path += "/namespaces/" + o.Namespace
	}
	return core.FixedCommand("kubectl", "delete", "--raw", path+"/"+o.Resource+"/"+url.PathEscape(o.Name)+"?ignoreStoreReadErrorWithClusterBreakingPotential=true").Write(o)
}
