package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

// Two files of the state are for an API server that is stopped and started again: its arguments, so
// that it comes back on the same port, and the sign that its end was asked for.
const (
	apiserverArguments = "apiserver.args"
	apiserverStopped   = "apiserver.stopped"
)

// StopAPIServer kills the API server of the control plane that runs in dir. All else goes on, and
// etcd keeps the data. It is no error if it is stopped.
func StopAPIServer(ctx context.Context, dir string) error {
	h, err := at(dir)
	if err != nil {
		return err
	}
	if err := h.supervised(); err != nil {
		return err
	}
	if err := os.WriteFile(h.state(apiserverStopped), nil, 0o600); err != nil {
		return fmt.Errorf("saying that the API server is to stop: %w", err)
	}
	return process.Stop(ctx, h.record(apiserver), 0)
}

// StartAPIServer starts the API server that StopAPIServer has stopped, on the same port and with
// the same flags, and waits until it is ready. From then on nobody watches over it: the control
// plane does not end if it ends.
func StartAPIServer(ctx context.Context, dir string) error {
	h, err := at(dir)
	if err != nil {
		return err
	}
	if err := h.supervised(); err != nil {
		return err
	}
	if _, err := os.Stat(h.state(apiserverStopped)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the API server in %s was not stopped: stop it first", h)
	}
	text, err := os.ReadFile(h.state(apiserverArguments))
	if err != nil {
		return fmt.Errorf("reading the API server's flags: %w", err)
	}
	var args []string
	if err := json.Unmarshal(text, &args); err != nil {
		return fmt.Errorf("reading the API server's flags: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", h.kubeconfig())
	if err != nil {
		return err
	}
	p, err := h.start(apiserver, args)
	if err != nil {
		return err
	}
	return h.awaitAPIServer(ctx, p, config.Host, config.CAData, config.BearerToken)
}

// startAPIServer starts kube-apiserver and waits until it is ready. It returns the server's URL.
func (s *supervision) startAPIServer(ctx context.Context, c credentials, extra []string) (string, error) {
	port, release, err := reservePort()
	if err != nil {
		return "", err
	}
	s.releases = append(s.releases, release)
	// Later flags win, so extra comes last.
	args := append(apiserverArgs(port), extra...)
	text, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	if err := s.home.writeState(map[string][]byte{apiserverArguments: text}); err != nil {
		return "", err
	}
	p, err := s.start(apiserver, args...)
	if err != nil {
		return "", err
	}
	server := fmt.Sprintf("https://127.0.0.1:%d", port)
	return server, s.home.awaitAPIServer(ctx, p, server, c.ca, c.admin)
}

func (h home) awaitAPIServer(ctx context.Context, p *process.Process, server string, ca []byte, token string) error {
	probe, err := newProbe(server+"/readyz", ca, token)
	if err != nil {
		return err
	}
	return h.await(ctx, apiserver, p, probe.ok)
}

func apiserverArgs(port int) []string {
	return []string{
		"kube-apiserver",
		"--etcd-servers=unix://" + etcdClients,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--permit-port-sharing",
		"--cert-dir=.",
		"--tls-cert-file=" + servingCert,
		"--tls-private-key-file=" + servingKey,

		"--token-auth-file=" + tokenFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + tokenKey,
		"--service-account-signing-key-file=" + tokenKey,
		// Pods need no service account here, and nothing would make one for each namespace.
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged",

		"--service-cluster-ip-range=" + serviceRange,
		// Without these two the server looks for an address of the machine other than loopback.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",

		"--requestheader-client-ca-file=" + frontProxyCA,
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + frontProxyCert,
		"--proxy-client-key-file=" + frontProxyKey,
		// Nothing routes service addresses here; the endpoints behind them may be reachable.
		"--enable-aggregator-routing",
	}
}
