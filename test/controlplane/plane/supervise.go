package plane

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

// supervision is a supervisor at work.
type supervision struct {
	home     home
	running  []component
	releases []func()
}

type component struct {
	name string
	*process.Process
}

var errStopped = errors.New("stopped before the control plane was ready")

// supervise starts a control plane in h, calls ready, and returns when ctx is done (nil) or when
// etcd or the API server has ended. Nothing that it started is left then, and no data; the logs
// are. The caller holds the supervisor's record.
func supervise(ctx context.Context, h home, o Options, ready func()) (err error) {
	s := &supervision{home: h}
	defer func() { err = errors.Join(err, s.end(context.WithoutCancel(ctx))) }()
	if err := s.startAll(ctx, o); err != nil {
		if ctx.Err() != nil {
			return errStopped
		}
		return err
	}
	ready()
	return s.watch(ctx)
}

func (s *supervision) startAll(ctx context.Context, o Options) error {
	c, err := s.home.makeCredentials()
	if err != nil {
		return err
	}
	if err := s.startEtcd(ctx); err != nil {
		return err
	}
	server, err := s.startAPIServer(ctx, c, o.APIServerArgs)
	if err != nil {
		return err
	}
	err = writeKubeconfig(s.home.state(controllersKubeconfig), server, controllers, c.controllerToken, c.ca)
	if err != nil {
		return err
	}
	if o.Controllers != NoControllers {
		if err := s.home.startControllers(ctx, o.Controllers, o.ControllersArgs); err != nil {
			return err
		}
	}
	return writeKubeconfig(s.home.kubeconfig(), server, "admin", c.admin, c.ca)
}

// start starts one of the components that the supervisor watches.
func (s *supervision) start(name string, args ...string) (*process.Process, error) {
	p, err := s.home.start(name, args)
	if err == nil {
		s.running = append(s.running, component{name, p})
	}
	return p, err
}

// start starts a component, which ends with the supervisor.
func (h home) start(name string, args []string) (*process.Process, error) {
	p, err := process.Start(process.Spec{
		Args: args, Dir: h.path("state"), Log: h.log(name),
		Record: h.record(name), Lifeline: h.record(supervisor),
	})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

func (h home) await(ctx context.Context, name string, p *process.Process, check func(context.Context) error) error {
	if err := await(ctx, p, check); err != nil {
		return fmt.Errorf("starting %s: %w", name, withTail(err, h.log(name), 15))
	}
	return nil
}

// watch returns when ctx is done or a component has ended. Controllers may come and go, and so may
// an API server that StopAPIServer has stopped.
func (s *supervision) watch(ctx context.Context) error {
	ended := make(chan component, len(s.running))
	for _, c := range s.running {
		go func() {
			<-c.Ended()
			ended <- c
		}()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-ended:
			if _, err := os.Stat(s.home.state(apiserverStopped)); c.name == apiserver && err == nil {
				continue
			}
			return withTail(fmt.Errorf("%s ended (%s)", c.name, c.Outcome()), s.home.log(c.name), 15)
		}
	}
}

// end stops everything that was started, and the controllers that others started.
func (s *supervision) end(ctx context.Context) error {
	err := os.RemoveAll(s.home.kubeconfig())
	for _, release := range s.releases {
		release()
	}
	return errors.Join(err, s.home.stopComponents(ctx), s.home.removeData())
}
