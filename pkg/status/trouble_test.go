package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestTheConditionThatSaysWhatIsWrong: Synced comes before others, whatever its reason; Ready comes
// last; and what is only not ready yet is in no trouble.
func TestTheConditionThatSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ conditions, want string }{
		"no status":               {"", ""},
		"all is well":             {"[{type: Ready, status: 'True'}, {type: Synced, status: 'True', reason: ReconcileSuccess}]", ""},
		"created, not ready yet":  {"[{type: Ready, status: 'False', reason: Creating}, {type: Synced, status: 'True', reason: ReconcileSuccess}]", ""},
		"ready, and not synced":   {"[{type: Ready, status: 'True', reason: Available}, {type: Synced, status: 'False', reason: ReconcileError}]", "Synced: ReconcileError"},
		"paused":                  {"[{type: Synced, status: 'False', reason: ReconcilePaused}]", "Synced: ReconcilePaused"},
		"two failures":            {"[{type: Stalled, status: 'True', reason: BuildFailed}, {type: Synced, status: 'False', reason: ReconcileError}]", "Synced: ReconcileError"},
		"a failure besides Ready": {"[{type: Ready, status: 'False', reason: Failed}, {type: Stalled, status: 'True', reason: BuildFailed}]", "Stalled: BuildFailed"},
		"only Ready":              {"[{type: Ready, status: 'False', reason: CreateFailed}]", "Ready: CreateFailed"},
		"no reason":               {"[{type: Synced, status: 'False'}]", "Synced: "},
		"not known yet":           {"[{type: Synced, status: Unknown}]", ""},
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("status: {conditions: "+test.conditions+"}"), &o.Object); err != nil {
			t.Fatal(err)
		}
		got := ""
		if c, wrong := Trouble(o); wrong {
			got = c.Type + ": " + c.Reason
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
