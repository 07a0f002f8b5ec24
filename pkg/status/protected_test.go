package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestWhatIsNotToBeDeleted: by a switch that is on, or by a policy for the object itself. What is to
// stay of what it stands for is another matter.
func TestWhatIsNotToBeDeleted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Said{
		"{spec: {terminationPolicy: DoNotTerminate}}":                {"spec.terminationPolicy", "DoNotTerminate"},
		"{spec: {deletionPolicy: Do-Not-Delete}}":                    {"spec.deletionPolicy", "Do-Not-Delete"},
		"{spec: {deletionProtection: true}}":                         {"spec.deletionProtection", "true"},
		"{spec: {forProvider: {deletionProtection: true}}}":          {"spec.forProvider.deletionProtection", "true"},
		"{spec: {instance: {terminationProtection: Enabled}}}":       {"spec.instance.terminationProtection", "Enabled"},
		"{spec: {enableDeletionProtection: \"true\"}}":               {"spec.enableDeletionProtection", "true"},
		"{spec: {preventDestroy: true}}":                             {"spec.preventDestroy", "true"},
		"{spec: {terminationPolicy: Delete}}":                        {},
		"{spec: {deletionPolicy: Orphan}}":                           {},
		"{spec: {deletionPolicy: Retain}}":                           {},
		"{spec: {deletionProtection: false}}":                        {},
		"{spec: {deletionProtection: Disabled}}":                     {},
		"{spec: {storagePolicy: DoNotDelete, dataProtection: true}}": {},
		"{spec: {a: {b: {deletionProtection: true}}}}":               {}, // of something deep inside
		"{spec: {pools: [{deletionProtection: true}]}}":              {}, // of one of several
		"{status: {deletionProtection: true}, spec: {replicas: 1}}":  {},
		"{spec: {description: do not delete, note: DoNotTerminate}}": {},
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		if got := Protected(o); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
