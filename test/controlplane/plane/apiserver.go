package plane

import (
	"context"
	"fmt"
)

// startAPIServer starts kube-apiserver and waits until it is ready. It returns the server's URL.
func (s *supervision) startAPIServer(ctx context.Context, c credentials, extra []string) (string, error) {
	port, release, err := reservePort()
	if err != nil {
		return "", err
	}
	s.releases = append(s.releases, release)
	// Later flags win, so extra comes last.
	p, err := s.start(apiserver, append(apiserverArgs(port), extra...)...)
	if err != nil {
		return "", err
	}
	server := fmt.Sprintf("https://127.0.0.1:%d", port)
	probe, err := newProbe(server+"/readyz", c.ca, c.admin)
	if err != nil {
		return "", err
	}
	return server, s.await(ctx, apiserver, p, probe.ok)
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
