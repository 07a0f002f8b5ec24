package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestListsThatAreAlwaysThereAreNeverNull: programs go over them without asking.
func TestListsThatAreAlwaysThereAreNeverNull(t *testing.T) {
	t.Parallel()
	for _, empty := range []any{NewPlan(nil), NewResult(nil)} {
		text, err := json.Marshal(empty)
		if err != nil || strings.Contains(string(text), "null") || !strings.Contains(string(text), `"complete":true`) {
			t.Errorf("%s, %v", text, err)
		}
	}
}
