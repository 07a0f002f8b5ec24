package archive

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestNotSavedSaysWhatDidNotHappen: an object that cannot be read is a refusal with a hint, the
// file is none, and an interruption stays what it is.
func TestNotSavedSaysWhatDidNotHappen(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancelCause(t.Context())
	end(io.ErrClosedPipe)
	unread := &cluster.UnreadError{Type: graph.Type{Version: "v1", Resource: "secrets"}, Namespace: "shop", Name: "key",
		Err: io.ErrUnexpectedEOF}
	for name, tt := range map[string]struct {
		ctx     context.Context
		err     error
		want    string
		refused bool
	}{
		"an object": {t.Context(), unread,
			`nothing was removed: the archive would be incomplete: reading secrets "key" in namespace "shop": unexpected EOF`, true},
		"the file":    {t.Context(), io.ErrShortWrite, "nothing was removed: writing the archive: short write", false},
		"interrupted": {ended, unread, io.ErrClosedPipe.Error(), false},
	} {
		err := NotSaved(tt.ctx, tt.err, "nothing was removed", OmitArchive)
		if err == nil || err.Error() != tt.want || answer.IsRefusal(err) != tt.refused ||
			(answer.Hint(err) != "") != tt.refused {
			t.Errorf("%s: %v, refusal %t, hint %q", name, err, answer.IsRefusal(err), answer.Hint(err))
		}
		if cause := errors.Is(err, tt.err); cause != (tt.ctx == t.Context()) {
			t.Errorf("%s: the cause is in the error: %t", name, cause)
		}
	}
	if err := NotSaved(t.Context(), nil, "nothing was removed", OmitArchive); err != nil {
		t.Errorf("without an error: %v", err)
	}
}
