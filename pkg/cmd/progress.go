package cmd

import (
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// progressLine is one line on a terminal that is written over as a listing goes on. It appears only where a person
// looks, and only if there is something to wait for.
type progressLine struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
	last  time.Time
	shown bool
}

// newProgress returns nil if errOut is no terminal.
func newProgress(errOut io.Writer) *progressLine {
	if !printers.IsTerminal(errOut) {
		return nil
	}
	return &progressLine{out: errOut, start: time.Now()}
}

func (p *progressLine) report(state cluster.Progress) {
	p.write(fmt.Sprintf("listed %d/%d types, %d objects", state.TypesDone, state.Types, state.Objects))
}

// examined says how much of what is looked at has been.
func (p *progressLine) examined(done, total int, what string) {
	p.write(fmt.Sprintf("looked at %d/%d %s", done, total, what))
}

func (p *progressLine) write(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.start) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprint(p.out, "\r\x1b[K"+line)
}

// done takes the line away.
func (p *progressLine) done() {
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
