package plane

import (
	"context"
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

// DefaultControllers are those that make owners of things and dependents of them, and the collector.
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
	// The port stays reserved only until the process listens on it, which it does before it is ready.
	port, release, err := reservePort()
	if err != nil {
		return err
	}
	defer release()
	ca, err := h.readState(caFile)
	if err != nil {
		return err
	}
	probe, err := newProbe(fmt.Sprintf("https://127.0.0.1:%d/healthz?verbose", port), ca, "")
	if err != nil {
		return err
	}
	p, err := h.startFreeRecord(append(controllersArgs(port, list), extra...))
	if err != nil {
		return err
	}
	// The checks of the controllers appear all at once, when the last of them was built.
	if err := await(ctx, p, probe.says("-controller ok")); err != nil {
		p.Kill()
		return fmt.Errorf("starting the controllers %s: %w", list, withTail(err, h.log(controllers), 15))
	}
	return nil
}

// startFreeRecord starts a kube-controller-manager under the first record that none is running under.
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

func controllersArgs(port int, list string) []string {
	return []string{
		"kube-controller-manager",
		"--kubeconfig=" + controllersKubeconfig,
		"--controllers=" + list,
		// A second manager with other controllers has to work at once beside the first.
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--permit-port-sharing",
		"--tls-cert-file=" + servingCert,
		"--tls-private-key-file=" + servingKey,
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}
}
