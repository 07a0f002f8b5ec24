package plane

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

// NoControllers is the list of controllers that stands for none.
const NoControllers = "none"

// DefaultControllers are those that make owners of things and dependents of them, and the
// collector.
var DefaultControllers = strings.Join([]string{
	"garbage-collector-controller",
	"namespace-controller",
	"deployment-controller",
	"replicaset-controller",
	"replicationcontroller-controller",
	"statefulset-controller",
	"daemonset-controller",
	"job-controller",
	"cronjob-controller",
	"endpoints-controller",
	"endpointslice-controller",
	"persistentvolumeclaim-protection-controller",
	"persistentvolume-protection-controller",
	"clusterrole-aggregation-controller", // fills the roles admin, edit and view
}, ",")

// controllersKubeconfig is what the controllers connect with, a file of the state.
const controllersKubeconfig = "controllers.kubeconfig"

// startControllers starts one more kube-controller-manager and waits until its controllers run.
func (h home) startControllers(ctx context.Context, list string, extra []string) error {
	ready := fmt.Sprintf("%s-%s.ready", controllers, rand.Text())
	p, err := h.startFreeRecord(append(controllersArgs(ready, list), extra...))
	if err != nil {
		return err
	}
	if err := await(ctx, p, func(context.Context) error { return os.Remove(h.state(ready)) }); err != nil {
		p.Kill()
		return fmt.Errorf("starting the controllers %s: %w", list, withTail(err, h.log(controllers), 15))
	}
	return nil
}

// startFreeRecord starts a kube-controller-manager under the first record that none is running
// under.
func (h home) startFreeRecord(args []string) (*process.Process, error) {
	for n := 1; ; n++ {
		p, err := process.Start(process.Spec{
			Args: args, Dir: h.path("state"), Log: h.log(controllers),
			Record: h.record(fmt.Sprintf("%s-%d", controllers, n)), Lifeline: h.record(supervisor),
		})
		if !errors.Is(err, process.ErrHeld) {
			return p, err
		}
	}
}

// stopControllers kills every kube-controller-manager of this control plane.
func (h home) stopControllers(ctx context.Context) error {
	entries, err := os.ReadDir(h.path("state"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for controllers: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), controllers+"-") && filepath.Ext(entry.Name()) == ".pid" {
			errs = append(errs, process.Stop(ctx, h.state(entry.Name()), 0))
		}
	}
	return errors.Join(errs...)
}

func controllersArgs(ready, list string) []string {
	return []string{
		"kube-controller-manager",
		"--kubeconfig=" + controllersKubeconfig,
		"--controllers=" + list,
		"--ready-file=" + ready,
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--service-account-private-key-file=" + tokenKey,
	}
}
