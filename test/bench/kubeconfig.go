package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
)

// behind writes a kubeconfig of a name, to the given directory, through which the same cluster is
// at the other end of a link.
func behind(ctx context.Context, kubeconfig, dir, name string, l link) (string, *delayProxy, error) {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return "", nil, fmt.Errorf("reading the kubeconfig %s: %w", kubeconfig, err)
	}
	current, ok := config.Contexts[config.CurrentContext]
	if !ok || config.Clusters[current.Cluster] == nil {
		return "", nil, fmt.Errorf("the kubeconfig %s has no current context: set one with kubectl config use-context",
			kubeconfig)
	}
	cluster := config.Clusters[current.Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil {
		return "", nil, fmt.Errorf("reading the server's address in %s: %w", kubeconfig, err)
	}
	port := server.Port()
	if port == "" {
		port = "443"
	}
	proxy, err := startDelayProxy(ctx, net.JoinHostPort(server.Hostname(), port), l)
	if err != nil {
		return "", nil, err
	}
	if cluster.TLSServerName == "" {
		cluster.TLSServerName = server.Hostname()
	}
	server.Host = proxy.address()
	cluster.Server = server.String()
	path := filepath.Join(dir, name)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", nil, fmt.Errorf("writing the kubeconfig of the delayed cluster: %w", err)
	}
	return path, proxy, nil
}
