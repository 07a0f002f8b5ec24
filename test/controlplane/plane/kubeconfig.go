package plane

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes, readable for its owner only, how to reach server as the holder of token.
// The file appears complete or not at all: for others it is the sign that the control plane is
// ready.
func writeKubeconfig(path, server, user, token string, ca []byte) error {
	const name = "controlplane"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[user] = &api.AuthInfo{Token: token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: user, Namespace: "default"}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding the kubeconfig: %w", err)
	}
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return os.Rename(path+".new", path)
}
