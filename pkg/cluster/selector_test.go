package cluster

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func selectorOf(t testing.TB, s string) labels.Selector {
	t.Helper()
	selector, err := labels.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

// TestSelector: each object is held against the selector by its own labels and not by those of the
// one before it.
func TestSelector(t *testing.T) {
	object := func(name string, set labels.Set) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Labels: set} }
	list := metadataList(
		object("web", labels.Set{"app": "web", "tier": "front"}), object("api", labels.Set{"app": "api"}),
		object("bare", nil),
		object("empty", labels.Set{"app": ""}), object("other", labels.Set{"tier": "front"}),
	)
	tests := []struct{ selector, want string }{
		{"app=web", "web"},
		{"app!=web", "api bare empty other"},
		{"app in (web, api)", "web api"},
		{"app notin (web, api)", "bare empty other"},
		{"app", "web api empty"},
		{"!app", "bare other"},
		{"app=", "empty"},
		{"app=web,tier=front", "web"},
		{"app=api,tier=front", ""},
		{"", "web api bare empty other"},
	}
	for _, tt := range tests {
		for encoder := range encoders {
			got, err := decodeBytes(encode(t, encoder, list), extras{selector: selectorOf(t, tt.selector)})
			if err != nil {
				t.Fatal(err)
			}
			var selected []string
			for _, o := range got.objects {
				if o.Selected {
					selected = append(selected, o.Name)
				}
			}
			if got := strings.Join(selected, " "); got != tt.want {
				t.Errorf("%s, %q: selected %q, want %q", encoder, tt.selector, got, tt.want)
			}
			if len(got.objects) != len(list.Items) {
				t.Errorf("%s, %q leaves objects out", encoder, tt.selector)
			}
		}
	}
}

// TestNoSelector selects nothing.
func TestNoSelector(t *testing.T) {
	list := metadataList(metav1.ObjectMeta{Name: "web", Labels: labels.Set{"app": "web"}})
	for encoder := range encoders {
		got, err := decodeBytes(encode(t, encoder, list), extras{})
		if err != nil || got.objects[0].Selected {
			t.Errorf("%s: %v, %+v", encoder, err, got)
		}
	}
}
