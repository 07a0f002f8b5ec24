package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAnnotationsThatAreKept: those that were asked for, and none of the object before.
func TestAnnotationsThatAreKept(t *testing.T) {
	list := metadataList(
		metav1.ObjectMeta{Name: "both", Annotations: map[string]string{"a": "1", "b": "", "other": "3"}},
		metav1.ObjectMeta{Name: "one", Annotations: map[string]string{"b": "2"}},
		metav1.ObjectMeta{Name: "other", Annotations: map[string]string{"other": "3"}},
		metav1.ObjectMeta{Name: "bare"},
	)
	for encoder := range encoders {
		body := encode(t, encoder, list)
		for _, tt := range []struct {
			keys []string
			want []map[string]string
		}{
			{nil, []map[string]string{nil, nil, nil, nil}},
			{[]string{"a", "b"}, []map[string]string{{"a": "1", "b": ""}, {"b": "2"}, nil, nil}},
		} {
			got, err := decodeBytes(body, extras{annotations: tt.keys})
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range got.objects {
				if diff := cmp.Diff(tt.want[i], o.Annotations); diff != "" {
					t.Errorf("%s, %v of %s: %s", encoder, tt.keys, o.Name, diff)
				}
			}
		}
	}
}
