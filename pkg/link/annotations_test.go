package link_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// TestAnnotationsThatSayWhatManagesAnObject: only those of a link that reads nothing else of it,
// and that leads to one namespace.
func TestAnnotationsThatSayWhatManagesAnObject(t *testing.T) {
	released := func() *link.Definition {
		return &link.Definition{
			From: link.From{Where: []link.Condition{{Annotation: "release"}}},
			Ends: []link.Ends{{
				Form: link.Labels, Labels: "owner=helm,name={metadata.annotations['release']}",
				Namespace: "{metadata.annotations['release-namespace']}",
			}},
			Deletion: link.Deletion{Of: link.Lead},
		}
	}
	for name, tt := range map[string]struct {
		change func(*link.Definition)
		want   string
	}{
		"all by annotations":   {func(*link.Definition) {}, "release release-namespace"},
		"in its own namespace": {func(d *link.Definition) { d.Ends[0].Namespace = "{metadata.namespace}" }, "release"},
		"in any namespace":     {func(d *link.Definition) { d.Ends[0].Namespace = link.AnyNamespace }, ""},
		"by a label":           {func(d *link.Definition) { d.Ends[0].Labels = "name={metadata.labels['release']}" }, ""},
		"where it has a label": {func(d *link.Definition) {
			d.From.Where = append(d.From.Where, link.Condition{Label: "a"})
		}, ""},
		"by its name":            {func(d *link.Definition) { d.Ends[0].Labels = "name={metadata.name}" }, ""},
		"by a text":              {func(d *link.Definition) { d.Ends[0].Form = link.Text }, ""},
		"what goes with its end": {func(d *link.Definition) { d.Deletion.Of = link.Source }, ""},
	} {
		d := released()
		tt.change(d)
		keys, ok := d.Annotations()
		if slices.Sort(keys); strings.Join(keys, " ") != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %t, want %q", name, keys, ok, tt.want)
		}
	}
}
