package cluster

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// sayAfter is how long a request is waited for before that is said, and sayEvery after how long
	// it is said again.
	sayAfter = 5 * time.Second
	sayEvery = 30 * time.Second
)

// Pending says which requests a server leaves without an answer. It is safe for concurrent use.
type Pending struct {
	say func(string)

	mu   sync.Mutex
	late int // requests that have been waited for for longer than sayAfter
	said time.Time
}

// NewPending returns a Pending that calls say with a line of text, once at a time.
func NewPending(say func(string)) *Pending { return &Pending{say: say} }

// Wrap is for a configuration's Wrap: it times the requests of all clients that are made of it.
func (w *Pending) Wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{next, func(r *http.Request) (*http.Response, error) { return w.send(next, r) }}
}

func (w *Pending) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	stop := w.begin(r)
	response, err := next.RoundTrip(r)
	stop()
	if err == nil && !isWatchRequest(r) {
		response.Body = &timedBody{
			ReadCloser: response.Body,
			begin:      func() func() bool { return w.begin(r) },
			failed:     func(err error) error { return err },
			closed:     func() {},
		}
	}
	return response, err
}

// wait is one that has not ended.
type wait struct {
	waits   *Pending
	request string
	began   time.Time
	timer   *time.Timer
	// late says that it is counted in Pending.late, and over that it has ended.
	late, over bool
}

// begin times a wait until stop is called, which returns whether nothing was said of it.
func (w *Pending) begin(r *http.Request) (stop func() bool) {
	it := &wait{waits: w, request: requestName(r), began: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	it.timer = time.AfterFunc(sayAfter, it.tell)
	return it.stop
}

// tell says what is waited for, unless something was said a moment ago.
func (t *wait) tell() {
	w := t.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.over {
		return
	}
	if !t.late {
		t.late = true
		w.late++
	}
	if next := sayEvery - time.Since(w.said); next > 0 {
		t.timer.Reset(next)
		return
	}
	w.said = time.Now()
	t.timer.Reset(sayEvery)
	others := ""
	if w.late > 1 {
		others = fmt.Sprintf(" and %d more requests", w.late-1)
	}
	w.say(fmt.Sprintf("waiting for the server to answer %s%s, for %s so far", t.request, others,
		time.Since(t.began).Round(time.Second)))
}

func (t *wait) stop() bool {
	w := t.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	t.over = true
	t.timer.Stop()
	if t.late {
		if w.late--; w.late == 0 {
			w.said = time.Time{} // what is waited for next is said in time again
		}
	}
	return !t.late
}
