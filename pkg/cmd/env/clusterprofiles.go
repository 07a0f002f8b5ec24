package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// clusterProfile is a ClusterProfile, as far as it says how the cluster is reached
// (sigs.k8s.io/cluster-inventory-api, apis/v1alpha1/clusterprofile_types.go; KEP-4322).
type clusterProfile struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Conditions          []metav1.Condition `json:"conditions"`
		AccessProviders     []accessProvider   `json:"accessProviders"`
		CredentialProviders []accessProvider   `json:"credentialProviders"` // before accessProviders
	} `json:"status"`
}

type accessProvider struct {
	Name    string              `json:"name"`
	Cluster clientcmdv1.Cluster `json:"cluster"`
}

// loginProvider says with which program somebody logs in to the clusters of a provider, in the file
// that controllers of the inventory read too (pkg/access/config.go; KEP-5339).
type loginProvider struct {
	Name       string                 `json:"name"`
	ExecConfig clientcmdv1.ExecConfig `json:"execConfig"`
	// Args and Envs say whether a profile may add to the arguments and the environment.
	Args string `json:"profileSourcedCLIArgsPolicy"`
	Envs string `json:"profileSourcedEnvVarsPolicy"`
}

// Extensions of the cluster in a profile, with arguments and variables for the program.
const (
	extraArgs = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args"
	extraEnvs = "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs"
)

// profileVersions are those of ClusterProfile. Only the first has credentialProviders, and it is
// served beside the other.
var profileVersions = []string{"v1alpha1", "v1alpha2"}

// fromProfiles returns the clusters of the ClusterProfiles in a namespace, or in all of *, of the
// cluster that the flags name.
func (e *Env) fromProfiles(ctx context.Context, namespace, file string) (map[string]Target, error) {
	providers, err := loginProviders(file)
	if err != nil {
		return nil, err
	}
	client, err := e.Client()
	if err != nil {
		return nil, err
	}
	if namespace == "*" {
		namespace = metav1.NamespaceAll
	}
	var all map[string]Target
	for _, version := range profileVersions {
		t := graph.Type{Group: "multicluster.x-k8s.io", Version: version, Resource: "clusterprofiles", Kind: "ClusterProfile",
			Namespaced: true}
		all = map[string]Target{} // a list that has to begin again has them twice
		err = client.ForEachRaw(ctx, t, namespace, func(raw json.RawMessage) error {
			var p clusterProfile
			err := json.Unmarshal(raw, &p) // metadata comes before what cannot be read, as the server sorts keys
			t := p.target(providers)
			if err != nil {
				t = p.gap(v1alpha1.GapFailed, "cannot be read: %v", err)
			}
			all[t.Name] = t
			return nil
		})
		if !apierrors.IsNotFound(err) {
			break
		}
	}
	if err == nil && len(all) == 0 {
		err = errors.New("there is none")
	}
	return all, err
}

// loginProviders reads the file of --clusterprofile-provider-file.
func loginProviders(file string) ([]loginProvider, error) {
	text, err := os.ReadFile(file) //nolint:gosec // it is what was typed
	if err != nil {
		return nil, err
	}
	var of struct {
		Providers []loginProvider `json:"providers"`
	}
	if err := yaml.UnmarshalStrict(text, &of); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	for _, p := range of.Providers {
		switch {
		case p.ExecConfig.Command == "":
			return nil, fmt.Errorf("reading %s: the provider %q has no execConfig.command", file, p.Name)
		case !slices.Contains([]string{"", "Ignore", "Append"}, p.Args),
			!slices.Contains([]string{"", "Ignore", "AppendIfNotExists", "Replace"}, p.Envs):
			return nil, fmt.Errorf("reading %s: the provider %q has a policy that does not exist", file, p.Name)
		}
	}
	return of.Providers, nil
}

// target is the cluster of a profile, with the first of some providers that it has; a gap if there is
// none, or if whoever manages the cluster has found it unhealthy.
func (p *clusterProfile) target(providers []loginProvider) Target {
	for _, c := range p.Status.Conditions {
		if c.Type == "ControlPlaneHealthy" && c.Status == metav1.ConditionFalse {
			return p.gap(v1alpha1.GapUnavailable, "says that the control plane is not healthy: %s",
				strings.TrimPrefix(c.Reason+": "+c.Message, ": "))
		}
	}
	has := map[string]accessProvider{}
	for _, a := range slices.Concat(p.Status.CredentialProviders, p.Status.AccessProviders) { // the later count
		has[a.Name] = a
	}
	for _, provider := range providers {
		access, is := has[provider.Name]
		if !is {
			continue
		}
		config, err := provider.logIn(access.Cluster)
		if err != nil {
			return p.gap(v1alpha1.GapFailed, "cannot be used with its provider %s: %v", provider.Name, err)
		}
		return Target{Name: p.Namespace + "/" + p.Name, config: config}
	}
	if len(has) == 0 {
		return p.gap(v1alpha1.GapFailed, "has no access provider")
	}
	return p.gap(v1alpha1.GapFailed, "has no access provider that --clusterprofile-provider-file has: it has %s",
		phrase.FirstFew(slices.Sorted(maps.Keys(has)), phrase.MaxNamed))
}

// gap is the cluster of a profile that cannot be asked, and why: what the profile does or says.
func (p *clusterProfile) gap(reason v1alpha1.GapReason, format string, args ...any) Target {
	name := p.Namespace + "/" + p.Name
	return Target{Name: name, Gap: &v1alpha1.Gap{Resource: "*", Group: "*", Cluster: name, Reason: reason,
		Message: render.Escape("its ClusterProfile " + fmt.Sprintf(format, args...))}}
}

// logIn is how a client reaches a cluster with the provider's program, as with a kubeconfig. A path
// in the profile would be one on this machine, and is not read.
func (p loginProvider) logIn(c clientcmdv1.Cluster) (*rest.Config, error) {
	c.CertificateAuthority = ""
	program := p.ExecConfig
	program.InteractiveMode = clientcmdv1.NeverExecInteractiveMode
	for _, x := range c.Extensions {
		var err error
		switch {
		case x.Name == extraArgs && p.Args == "Append":
			var args []string
			err = json.Unmarshal(x.Extension.Raw, &args)
			program.Args = slices.Concat(program.Args, args)
		case x.Name == extraEnvs && p.Envs != "" && p.Envs != "Ignore":
			var envs map[string]string
			err = json.Unmarshal(x.Extension.Raw, &envs)
			program.Env = p.withEnvs(envs)
		}
		if err != nil {
			return nil, fmt.Errorf("reading its %s: %w", x.Name, err)
		}
	}
	const only = "cluster"
	kubeconfig, err := json.Marshal(clientcmdv1.Config{CurrentContext: only,
		Clusters:  []clientcmdv1.NamedCluster{{Name: only, Cluster: c}},
		AuthInfos: []clientcmdv1.NamedAuthInfo{{Name: only, AuthInfo: clientcmdv1.AuthInfo{Exec: &program}}},
		Contexts:  []clientcmdv1.NamedContext{{Name: only, Context: clientcmdv1.Context{Cluster: only, AuthInfo: only}}},
	})
	if err != nil {
		return nil, err
	}
	return clientcmd.RESTConfigFromKubeConfig(kubeconfig)
}

// withEnvs is the environment of the provider's program with that of a profile.
func (p loginProvider) withEnvs(of map[string]string) []clientcmdv1.ExecEnvVar {
	all := slices.DeleteFunc(slices.Clone(p.ExecConfig.Env), func(v clientcmdv1.ExecEnvVar) bool {
		_, both := of[v.Name]
		return both && p.Envs == "Replace"
	})
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !slices.ContainsFunc(all, func(v clientcmdv1.ExecEnvVar) bool { return v.Name == name }) {
			all = append(all, clientcmdv1.ExecEnvVar{Name: name, Value: of[name]})
		}
	}
	return all
}

// asProfile has the command ask the cluster of a profile instead of one of the kubeconfig. Whom to be,
// and how long to wait, is as it was typed.
func (e *Env) asProfile(config *rest.Config) {
	*e.Config.APIServer, *e.Config.KubeConfig, *e.Config.Context = config.Host, os.DevNull, ""
	wrap := e.Config.WrapConfigFn
	e.Config.WrapConfigFn = func(typed *rest.Config) *rest.Config {
		own := rest.CopyConfig(config)
		own.Timeout, own.Impersonate = typed.Timeout, typed.Impersonate
		if wrap != nil {
			return wrap(own)
		}
		return own
	}
}
