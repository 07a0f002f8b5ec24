package link

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestConfirmedBy: an end confirms a link if it names the source by group, kind, namespace and
// name, and by uid where it has that.
func TestConfirmedBy(t *testing.T) {
	reference, err := ParsePath("spec.claimRef")
	if err != nil {
		t.Fatal(err)
	}
	owner, err := ParsePath("metadata.labels['example.org/owner']")
	if err != nil {
		t.Fatal(err)
	}
	byText := &Definition{Deletion: Deletion{Of: End},
		Confirmed: []Ends{{Form: Text, Field: owner, Kind: "example.org/Claim"}}}
	bound := &Definition{Deletion: Deletion{Of: End, Bound: reference}}
	byLabels := &Definition{Deletion: Deletion{Of: End},
		Confirmed: []Ends{{Form: Labels, Labels: "name={metadata.labels['example.org/owner']}",
			Kinds: []graph.KindPattern{"example.org/Claim"}, Namespace: "{spec.in}"}}}
	source := Identity{Group: "example.org", Kind: "Claim", Namespace: "shop", Name: "db", UID: "1",
		Labels: map[string]string{"name": "db"}}
	for _, test := range []struct {
		scenario string
		d        *Definition
		end      string
		want     bool
	}{
		{"names it", bound, "{spec: {claimRef: {apiVersion: example.org/v1, kind: Claim, namespace: shop, name: db}}}", true},
		{"names it with its uid", bound,
			"{spec: {claimRef: {apiVersion: example.org/v1, kind: Claim, namespace: shop, name: db, uid: '1'}}}", true},
		{"names one before it", bound,
			"{spec: {claimRef: {apiVersion: example.org/v1, kind: Claim, namespace: shop, name: db, uid: '0'}}}", false},
		{"names one of another namespace", bound,
			"{spec: {claimRef: {apiVersion: example.org/v1, kind: Claim, namespace: other, name: db}}}", false},
		{"names no namespace", bound, "{spec: {claimRef: {apiVersion: example.org/v1, kind: Claim, name: db}}}", false},
		{"names no kind", bound, "{spec: {claimRef: {namespace: shop, name: db}}}", false},
		{"says nothing", bound, "{spec: {}}", false},
		{"a label in the same namespace", byText, "{metadata: {namespace: shop, labels: {example.org/owner: db}}}", true},
		{"a label in another namespace", byText, "{metadata: {namespace: other, labels: {example.org/owner: db}}}", false},
		{"a label of another", byText, "{metadata: {namespace: shop, labels: {example.org/owner: cache}}}", false},
		{"a selector that finds it", byLabels, "{metadata: {labels: {example.org/owner: db}}, spec: {in: shop}}", true},
		{"a selector in another namespace", byLabels,
			"{metadata: {labels: {example.org/owner: db}}, spec: {in: other}}", false},
		{"nothing can confirm it", &Definition{Deletion: Deletion{Of: End}}, "{metadata: {name: db}}", false},
		{"the dependent is the source", &Definition{Deletion: Deletion{Of: Guard}}, "{}", true},
	} {
		if got := test.d.ConfirmedBy(object(t, test.end), source); got != test.want {
			t.Errorf("%s: confirmed is %v", test.scenario, got)
		}
	}
	byText.Deletion.Claimed = true
	const other = "metadata.labels['example.org/owner'] names Claim cache"
	for end, want := range map[string]string{
		"{metadata: {namespace: shop, labels: {example.org/owner: cache}}}": other,
		"{metadata: {namespace: other, labels: {example.org/owner: db}}}":   "", // which says no namespace
		"{metadata: {namespace: shop}}":                                     "",
	} {
		if got := byText.ClaimedElsewhere(object(t, end), source); got != want {
			t.Errorf("%s is claimed elsewhere: %q, want %q", end, got, want)
		}
	}
	if byText.ConfirmedBy(nil, source) {
		t.Error("an end that was not read confirms the link")
	}
}
