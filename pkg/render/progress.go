package render

import (
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/printers"
)

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// Progress is one line on a terminal that is written over as a listing goes on. It appears only
// where a person looks, and only if there is something to wait for. Nil shows nothing. It is safe
// for concurrent use.
type Progress struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
	last  time.Time
	shown bool
}

// NewProgress returns nil if errOut is no terminal.
func NewProgress(errOut io.Writer) *Progress {
	if !printers.IsTerminal(errOut) {
		return nil
	}
	return &Progress{out: errOut, start: time.Now()}
}

// Listed says how far a listing has come.
func (p *Progress) Listed(typesDone, types, objects int) {
	p.write(fmt.Sprintf("listed %d/%d types, %d objects", typesDone, types, objects))
}

// Examined says how much of what is looked at has been.
func (p *Progress) Examined(done, total int, what string) {
	p.write(fmt.Sprintf("examined %d/%d %s", done, total, what))
}

// Doing says what is done that says nothing of how far it is, until done is called.
func (p *Progress) Doing(what string) (done func()) {
	if p == nil {
		return func() {}
	}
	ended := make(chan struct{})
	written := make(chan struct{})
	go func() {
		defer close(written)
		select {
		case <-time.After(time.Until(p.start.Add(progressAfter))):
			p.write(what)
		case <-ended:
		}
	}()
	return func() {
		close(ended)
		<-written
		p.Done()
	}
}

func (p *Progress) write(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.start) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprint(p.out, "\r\x1b[K"+line)
}

// OwnLine returns a line that takes the place of what a Progress shows where both are printed.
func OwnLine(out io.Writer, line string) string {
	if !printers.IsTerminal(out) {
		return line
	}
	return "\r\x1b[K" + line
}

// Done removes the line.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}
