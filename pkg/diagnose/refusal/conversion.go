package refusal

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// conversionFailed is how the API server says that a conversion webhook did not do what it should.
// The group-version and the kind are those of the object that was to be converted.
var conversionFailed = regexp.MustCompile(`conversion webhook for ([^ ,]+), Kind=(\S+) failed`)

// unconverted is for what the server says when it could not convert an object, wherever it says so.
func (e *Examiner) unconverted(ctx context.Context, _ admission.Write, said string, names []string) []core.Finding {
	gv, err := schema.ParseGroupVersion(names[0])
	if err != nil {
		return nil
	}
	crd, err := e.crdOf(ctx, gv.Group, strings.TrimSuffix(names[1], "List"))
	if crd == nil {
		f := core.Finding{Code: core.ConversionWebhookDown, Evidence: core.Observed("the server says: " + said),
			Remedy: "Restore the conversion webhook of the CustomResourceDefinition."}
		if err != nil {
			f.Observe("CustomResourceDefinitions cannot be listed: %v", err)
		}
		return []core.Finding{f}
	}
	f := core.Finding{Code: core.ConversionWebhookDown, About: new(e.Ref(crd)),
		Sentence: fmt.Sprintf("the conversion webhook of CustomResourceDefinition %s does not answer: its instances cannot be read",
			crd.GetName()),
		Evidence: core.Observed("the server says: " + said)}
	s, _ := admission.Conversion(crd)
	b := e.Called(ctx, s)
	f.Evidence = append(f.Evidence, b.Evidence...)
	if stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions"); len(stored) > 0 {
		f.Observe("instances are stored as %s", phrase.And(stored))
	}
	f.Args = []string{"{service}", b.what}
	if c := b.certificate(said); c != "" {
		f.Remedy = c
	}
	f.Commands = append(slices.Clone(b.Restore),
		core.Command("kubectl", "patch", "OBJECT", "--type=json", "-p",
			`[{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]`).
			Doing("has the API server change only the apiVersion of the instances").Disturbing())
	f = e.Revivable(
		ctx, f, b, "If the schemas of the versions are compatible, set the conversion strategy to None: the API server then changes only the apiVersion.")
	return []core.Finding{f}
}

// crdOf returns the CustomResourceDefinition of a group and kind, nil if there is none.
func (e *Examiner) crdOf(ctx context.Context, group, kind string) (*unstructured.Unstructured, error) {
	all, err := e.Reader.ListObjects(ctx, cluster.CRDs, "", cluster.Selection{})
	for _, crd := range all {
		g := status.Nested(crd, "spec", "group")
		k := status.Nested(crd, "spec", "names", "kind")
		if g == group && k == kind {
			return crd, nil
		}
	}
	return nil, err
}

// Conversions returns the conversion webhooks that a message names as broken.
func (e *Examiner) Conversions(ctx context.Context, message string) []core.Finding {
	if names := conversionFailed.FindStringSubmatch(message); names != nil {
		return e.unconverted(ctx, admission.Write{}, message, names[1:])
	}
	return nil
}
