package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// farAway writes a kubeconfig, beside the given directory's other files, through which the same cluster is a round trip away.
func farAway(ctx context.Context, kubeconfig, dir string, roundTrip time.Duration) (string, error) {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig %s: %w", kubeconfig, err)
	}
	current, ok := config.Contexts[config.CurrentContext]
	if !ok || config.Clusters[current.Cluster] == nil {
		return "", fmt.Errorf("the kubeconfig %s has no current context: set one with kubectl config use-context", kubeconfig)
	}
	cluster := config.Clusters[current.Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil {
		return "", fmt.Errorf("reading the server's address in %s: %w", kubeconfig, err)
	}
	port := server.Port()
	if port == "" {
		port = "443"
	}
	proxy, err := startDelayProxy(ctx, net.JoinHostPort(server.Hostname(), port), roundTrip)
	if err != nil {
		return "", err
	}
	if cluster.TLSServerName == "" {
		cluster.TLSServerName = server.Hostname()
	}
	server.Host = proxy.address()
	cluster.Server = server.String()
	path := filepath.Join(dir, "kubeconfig-far")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of the delayed cluster: %w", err)
	}
	return path, nil
}
