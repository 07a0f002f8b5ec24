package core

import (
	"strings"
	"testing"
)

// TestALongTextIsCutInTheMiddle: an error says at its end what it comes from.
func TestALongTextIsCutInTheMiddle(t *testing.T) {
	t.Parallel()
	got := Brief("reconcile failed: " + strings.Repeat("at line one; ", 100) + "the bucket is\n in use")
	if !strings.HasPrefix(got, "reconcile failed: ") || !strings.HasSuffix(got, "the bucket is in use") || len([]rune(got)) > maxText+3 {
		t.Errorf("%d: %s", len([]rune(got)), got)
	}
	if got := Brief("short\n text"); got != "short text" {
		t.Error(got)
	}
}
