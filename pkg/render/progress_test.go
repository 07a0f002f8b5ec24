package render

import (
	"testing"
	"time"
)

// lines is a writer that hands on what is written.
type lines chan string

func (l lines) Write(text []byte) (int, error) {
	l <- string(text)
	return len(text), nil
}

// TestWhatTakesLongIsSaidUntilItEnds, and what does not, is not.
func TestWhatTakesLongIsSaidUntilItEnds(t *testing.T) {
	t.Parallel()
	out := make(lines, 2)
	done := (&Progress{out: out, start: time.Now().Add(-progressAfter)}).Doing("asking")
	if said := <-out; said != "\r\x1b[Kasking" {
		t.Errorf("%q", said)
	}
	done()
	if said := <-out; said != "\r\x1b[K" {
		t.Errorf("%q is not removed", said)
	}
	(&Progress{out: out, start: time.Now().Add(time.Hour)}).Doing("asking")()
	if len(out) > 0 {
		t.Errorf("%q of what has ended", <-out)
	}
	var none *Progress
	none.Doing("asking")()
}
