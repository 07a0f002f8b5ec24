package render_test

import (
	"bytes"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// TestLinkTestText: each source with its ends, and what a deletion does along each link.
func TestLinkTestText(t *testing.T) {
	end := v1alpha1.ObjectRef{APIVersion: "example.com/", Kind: "Part", Namespace: "shop", Name: "a"}
	test := &v1alpha1.LinkTest{Sources: []v1alpha1.LinkSource{
		{
			Object: v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Name: "w"},
			Links: []v1alpha1.FoundLink{
				{Name: "part", End: end, Present: true, Field: "spec.parts[*]", Of: "end", Deleted: true, By: "Widgets",
					Policy: "foreground", Waits: true},
				{Name: "part", End: end, Field: "spec.part", Of: "end", Deleted: true, By: "Widgets", Policy: "background"},
				{Name: "part", End: end, Present: true, Labels: "a=b", Of: "end", Kept: "spec.keep is \x1btrue"},
				{Name: "part", End: end, Present: true, Labels: "a=b", Of: "end", Why: "spec.suspend is true"},
			},
		},
		{
			Object: v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "s\x1b"},
			Links: []v1alpha1.FoundLink{
				{Name: "token", End: end, Present: true, Field: "data.of", Of: "source", Deleted: true, By: "Widgets",
					Policy: "background"},
				{Name: "token", End: end, Present: true, Field: "data.of", Of: "source", Why: "spec.suspend is true"},
				{Name: "use", End: end, Present: true, Field: "spec.of", Of: "guard"},
				{Name: "release", End: end, Present: true, Field: "spec.of", Of: "neither", Owner: "source"},
				{Name: "release", End: end, Present: true, Field: "spec.of", Of: "neither", Owner: "end"},
			},
			Errors: []string{"it: data.x is no text"},
		},
	}}
	const want = `example.com/Widget w
  part: example.com/Part shop/a
    named in spec.parts[*]
    deleted by Widgets in the foreground, which waits until it is gone
  part: example.com/Part shop/a (absent)
    named in spec.part
    deleted by Widgets in the background
  part: example.com/Part shop/a
    selected by a=b
    kept: spec.keep is ^[true
  part: example.com/Part shop/a
    selected by a=b
    not deleted: spec.suspend is true

v1/Secret shop/s^[
  token: example.com/Part shop/a
    named in data.of
    with it, this object is deleted by Widgets in the background
  token: example.com/Part shop/a
    named in data.of
    with it, this object is not deleted: spec.suspend is true
  use: example.com/Part shop/a
    named in spec.of
    kept from being deleted as long as this object exists
  release: example.com/Part shop/a
    named in spec.of
    a deletion does not follow
  release: example.com/Part shop/a
    named in spec.of
    stands above this object; a deletion does not follow
  cannot be read: it: data.x is no text
`
	var got bytes.Buffer
	if err := render.LinkTest(&got, test, render.Style{}); err != nil || got.String() != want {
		t.Errorf("%v\n%s", err, &got)
	}
}
