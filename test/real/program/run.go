package program

import (
	"fmt"
	"runtime"
)

// run starts the process. The thread that starts it waits for its end, because Linux kills the
// process when that thread ends (see bindToParent).
func (p *Program) run() error {
	started := make(chan error)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		bindToParent(p.cmd)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", p.spec.Name, err)
	}
	return nil
}
