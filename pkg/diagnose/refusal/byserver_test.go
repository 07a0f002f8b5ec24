package refusal

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestAnAnswerInTheLastMomentIsAnAnswer: a deadline that has passed when the server's error arrives
// does not make it an own one.
func TestAnAnswerInTheLastMomentIsAnAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"success": {nil, true},
		"an error of the server": {fmt.Errorf("patching: %w",
			apierrors.NewInternalError(errors.New("failed calling webhook: context deadline exceeded"))), true},
		"the client's deadline": {fmt.Errorf("patching: %w", context.DeadlineExceeded), false},
	} {
		if got := byServer(test.err); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
