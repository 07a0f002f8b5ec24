package plane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

// Options say how to run a control plane.
type Options struct {
	// Dir is its directory.
	Dir string
	// Controllers is what --controllers of kube-controller-manager takes, or NoControllers.
	Controllers string
	// APIServerArgs and ControllersArgs are added to the flags of the two; later flags win.
	APIServerArgs, ControllersArgs []string
}

// Run runs a control plane until ctx is done, and calls ready with the path of its kubeconfig. What
// ran in the directory before is stopped and removed.
func Run(ctx context.Context, o Options, ready func(kubeconfig string)) error {
	h, err := at(o.Dir)
	if err != nil {
		return err
	}
	release, err := h.takeOver(ctx)
	if err != nil {
		return err
	}
	giveUp, err := process.Hold(h.record(supervisor))
	release()
	if err != nil {
		return err
	}
	defer giveUp()
	return supervise(ctx, h, o, func() { ready(h.kubeconfig()) })
}

// Supervise is what Up starts: Run in a directory and under a record that were prepared for it.
func Supervise(ctx context.Context, o Options) error {
	h, err := at(o.Dir)
	if err != nil {
		return err
	}
	return supervise(ctx, h, o, func() {})
}

// Up starts a control plane that stays when this process ends, and returns the path of its
// kubeconfig when it is ready. args make this program call Supervise with the same options.
func Up(ctx context.Context, o Options, args []string) (string, error) {
	h, err := at(o.Dir)
	if err != nil {
		return "", err
	}
	release, err := h.takeOver(ctx)
	if err != nil {
		return "", err
	}
	p, err := process.Start(process.Spec{
		Args: args, Log: h.log(supervisor), Record: h.record(supervisor),
	})
	release()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(h.kubeconfig()); err == nil {
			return h.kubeconfig(), nil
		}
		select {
		case <-p.Ended():
			return "", withTail(errors.New("the control plane did not start"), h.log(supervisor), 40)
		case <-ctx.Done():
			return "", errors.Join(errStopped, process.Stop(context.WithoutCancel(ctx), h.record(supervisor), 10*time.Second))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Down stops the control plane in dir and removes everything of it. It is no error if there is
// none.
func Down(ctx context.Context, dir string) error {
	h, err := at(dir)
	if err != nil {
		return err
	}
	if !h.claimed() {
		return nil
	}
	release, err := h.claim(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := errors.Join(h.stopAll(ctx), h.clear(), os.Remove(h.path(marker))); err != nil {
		return fmt.Errorf("removing the control plane in %s: %w", h, err)
	}
	// The directory stays where someone put something else into it.
	_ = os.Remove(string(h))
	return nil
}

// Controllers starts the controllers of o beside those of the control plane that runs in its
// directory, or with NoControllers stops all that run there.
func Controllers(ctx context.Context, o Options) error {
	h, err := at(o.Dir)
	if err != nil {
		return err
	}
	if err := h.supervised(); err != nil {
		return err
	}
	if o.Controllers == NoControllers {
		return h.stopControllers(ctx)
	}
	return h.startControllers(ctx, o.Controllers, o.ControllersArgs)
}
