package diagnose

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// unlisted says why something cannot be listed.
type unlisted struct {
	*core.Examination
	refusal *refusal.Examiner
}

// gap returns why something cannot be listed. That the user may not list it says nothing of anybody
// else.
func (e *unlisted) gap(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
	if gap.Reason.OfReader() {
		return nil
	}
	for _, look := range []func(context.Context, v1alpha1.Gap) []core.Finding{
		func(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
			return e.refusal.Conversions(ctx, gap.Message)
		},
		e.versionless, e.undecodable, e.unavailable,
	} {
		if findings := look(ctx, gap); len(findings) > 0 {
			return findings
		}
	}
	return e.unlistable(ctx, gap)
}

// unlistable is for a type that cannot be listed for what the server says, and nothing else is
// known.
func (e *unlisted) unlistable(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
	about := e.typeRef(gap)
	f := core.Finding{Code: core.TypeUnlistable, About: &about,
		Evidence: core.Observed(actor.GapClauses(gap)...)}
	if services, err := e.aggregated(ctx, gap.Group); err == nil && len(services) > 0 {
		about = e.Ref(services[0])
		f.Sentence = "APIService " + about.Name + " is available, and what it serves cannot be listed"
		f.Remedy = "The API is served by a component of its own, whose APIService is available: repair or upgrade the component. If it was uninstalled, delete the APIService: only the registration is removed."
		f.Commands = []core.Step{core.Describe(),
			core.Command("kubectl", "delete", "OBJECT").Doing("removes the registration of the API").Disturbing()}
	}
	return []core.Finding{f}
}

// typeRef identifies the type that a gap is about.
func (e *unlisted) typeRef(gap v1alpha1.Gap) v1alpha1.ObjectRef {
	ref := v1alpha1.ObjectRef{APIVersion: gap.Group, Resource: gap.Resource, Namespace: gap.Namespace}
	if r, ok := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource}); ok {
		ref.APIVersion, ref.Kind = r.APIVersion(), r.Kind
	}
	return ref
}

// unavailable returns the APIServices of a gap's group that are not available.
func (e *unlisted) unavailable(ctx context.Context, gap v1alpha1.Gap) []core.Finding {
	services, err := e.aggregated(ctx, gap.Group)
	if err != nil {
		return e.unseen(gap, err)
	}
	var findings []core.Finding
	for _, o := range services {
		c, said := status.Find(o, "Available")
		if c.Status == "True" {
			continue
		}
		f := noAnswer(e.Ref(o))
		since := ""
		if !c.Since.IsZero() {
			since = fmt.Sprintf(" for %s", phrase.Ago(e.Now.Sub(c.Since)))
		}
		if said {
			f.Observe("its condition Available is %s%s: %s: %s", c.Status, since, c.Reason, c.Message)
		} else {
			f.Observe("it has never become available")
		}
		s, _ := admission.APIService(o)
		b := e.refusal.Called(ctx, s)
		f.Evidence = append(f.Evidence, b.Evidence...)
		f.Args = []string{"{revival}", b.Revival(c.Message)}
		f.Commands = append(slices.Clone(b.Restore),
			core.Command("kubectl", "delete", "OBJECT").Doing("removes the registration: nothing serves the group").
				Disturbing())
		f = e.refusal.Revivable(ctx, f, b,
			"The remaining option is to delete the APIService: only the registration is removed.")
		findings = append(findings, f)
	}
	return findings
}

// noAnswer is the finding about the APIService of an API that does not answer.
func noAnswer(about v1alpha1.ObjectRef) core.Finding {
	return core.Finding{Code: core.APIServiceUnavailable, About: &about, Sentence: fmt.Sprintf(
		"APIService %s does not answer: what it serves can be neither listed nor deleted", about.Name)}
}

// unseen is for an aggregated API whose APIService the user may not look at. Nothing but an
// aggregated API fails in discovery.
func (e *unlisted) unseen(gap v1alpha1.Gap, err error) []core.Finding {
	if gap.Reason != v1alpha1.GapDiscoveryFailed {
		return nil
	}
	f := core.Finding{
		Code:     core.APIServiceUnavailable,
		Evidence: core.Observed(gap.Message, fmt.Sprintf("APIServices cannot be listed: %v", err)),
		Args:     []string{"{revival}", "Restore the server of the API."},
	}
	said, _, _ := strings.Cut(gap.Message, ":")
	if gv, err := schema.ParseGroupVersion(said); err == nil && gv.Group == gap.Group {
		by := noAnswer(v1alpha1.ObjectRef{APIVersion: cluster.APIServices.Group + "/v1", Kind: "APIService",
			Resource: cluster.APIServices.Resource, Name: gv.Version + "." + gv.Group})
		f.About, f.Sentence = by.About, by.Sentence
		f.Commands = []core.Step{core.Command("kubectl", "delete", "OBJECT").
			Doing("removes the registration: nothing serves the group").Disturbing()}
	}
	return []core.Finding{f}
}

// aggregated returns the APIServices of a group that a Service serves, and not kube-apiserver
// itself.
func (e *unlisted) aggregated(ctx context.Context, group string) ([]*unstructured.Unstructured, error) {
	all, err := e.Reader.ListObjects(ctx, cluster.APIServices, "", cluster.Selection{})
	var of []*unstructured.Unstructured
	for _, o := range all {
		g := status.Nested(o, "spec", "group")
		if _, served := admission.APIService(o); served && g == group {
			of = append(of, o)
		}
	}
	return of, err
}

// versionUnknown is how the API server says that an object is stored in a version that the
// CustomResourceDefinition does not have (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion).
var versionUnknown = regexp.MustCompile(`convert CR from an invalid group/version: [^/ ]+/([a-z0-9]+)`)

// versionless is for a type whose CustomResourceDefinition lacks a version in which objects are
// stored. It need not be served.
func (e *unlisted) versionless(_ context.Context, gap v1alpha1.Gap) []core.Finding {
	said := versionUnknown.FindStringSubmatch(gap.Message)
	if said == nil {
		return nil
	}
	f := core.Finding{Code: core.ObjectUndecodable, Evidence: core.Observed(actor.GapClauses(gap)...),
		About: &v1alpha1.ObjectRef{APIVersion: cluster.CRDs.Group + "/v1", Kind: "CustomResourceDefinition",
			Resource: cluster.CRDs.Resource, Name: gap.Resource + "." + gap.Group}}
	f.Sentence = fmt.Sprintf("objects are stored in version %s, which the CustomResourceDefinition does not have any more: "+
		"the type cannot be listed", said[1])
	f.Remedy = fmt.Sprintf("Put version %s back into the CustomResourceDefinition, with the schema that it had; it need not be "+
		"served. Then the objects can be read, and go on to be deleted. Write those that stay again before you take it out.", said[1])
	version := fmt.Sprintf(`{"name":%q,"served":false,"storage":false,"schema":{"openAPIV3Schema":`+
		`{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`, said[1])
	f.Commands = []core.Step{core.Command("kubectl", "patch", "OBJECT", "--type=json", "-p",
		`[{"op":"add","path":"/spec/versions/-","value":`+version+`}]`).
		Doing("has the API server read what is stored in that version, whatever fields it has").Disturbing()}
	return []core.Finding{f}
}

// storageSayings are how the API server says that it cannot read what it has stored (API-046).
var storageSayings = []string{
	"unable to transform", "from the storage", "failed to decrypt", "no matching prefix found", "object not decodable",
	"couldn't get version/kind", "json parse error", "illegal base64 data", "proto: ", "wireType", `no kind "`,
}

// storageKey is a key of etcd as it stands in a message, with what can follow it. How it begins can
// be configured, how it ends cannot; names can contain colons.
var storageKey = regexp.MustCompile(`/[^\s"]+/[^\s"]+`)

// undecodable is for a type of which the server cannot decode an object.
func (e *unlisted) undecodable(_ context.Context, gap v1alpha1.Gap) []core.Finding {
	if !slices.ContainsFunc(storageSayings, func(s string) bool { return strings.Contains(gap.Message, s) }) {
		return nil
	}
	base := core.Finding{
		Code: core.ObjectUndecodable, Evidence: core.Observed(actor.GapClauses(gap)...),
	}
	about := e.typeRef(gap)
	base.About = &about
	r, ok := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource})
	if !ok {
		return []core.Finding{base}
	}
	var findings []core.Finding
	for _, key := range keys(gap.Message) {
		about, ok := stored(key, v1alpha1.ObjectRef{APIVersion: r.APIVersion(), Kind: r.Kind, Resource: r.Resource},
			r.Namespaced)
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
		core.Command("kubectl", "auth", "can-i", unsafeDelete,
			"OBJECT").Safely("asks whether you have the verb that it needs"),
		core.Step{Write: deleteUnread}.Doing(
			"deletes the object unread, with none of its finalizers honoured").Risking(finalizer.DataLoss),
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

// deleteUnread is the command that deletes an object that the server cannot read. Where the feature
// gate is off the server ignores what makes it special (API-045).
func deleteUnread(o v1alpha1.ObjectRef) string {
	path := "/apis/" + o.APIVersion
	if !strings.Contains(o.APIVersion, "/") {
		path = "/api/" + o.APIVersion
	}
	if o.Namespace != "" {
		path += "/namespaces/" + o.Namespace
	}
	return core.FixedCommand("kubectl", "delete", "--raw",
		path+"/"+o.Resource+"/"+url.PathEscape(o.Name)+"?ignoreStoreReadErrorWithClusterBreakingPotential=true").Write(o)
}
