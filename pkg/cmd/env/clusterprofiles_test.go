package env

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const providerFile = `{"providers": [
{"name": "first", "execConfig": {"apiVersion": "client.authentication.k8s.io/v1", "command": "log-in", "args": ["a"],
  "env": [{"name": "A", "value": "file"}], "provideClusterInfo": true, "interactiveMode": "Always"},
  "profileSourcedCLIArgsPolicy": "Append", "profileSourcedEnvVarsPolicy": "AppendIfNotExists"},
{"name": "second", "execConfig": {"apiVersion": "client.authentication.k8s.io/v1", "command": "other"}},
{"name": "third", "execConfig": {"command": "no version"}}]}`

func providers(t *testing.T, text string) ([]loginProvider, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "providers.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loginProviders(file)
}

func profile(t *testing.T, status string) *clusterProfile {
	t.Helper()
	var p clusterProfile
	if err := json.Unmarshal([]byte(`{"metadata":{"namespace":"fleet","name":"eu"},"status":`+status+`}`), &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// TestAProfileIsReachedAsItsProviderSays: by the first provider of the file, at the address of the
// profile, with what the profile may add. A path in a profile is none on this machine.
func TestAProfileIsReachedAsItsProviderSays(t *testing.T) {
	t.Parallel()
	all, err := providers(t, providerFile)
	if err != nil {
		t.Fatal(err)
	}
	got := profile(t, `{"conditions": [{"type": "ControlPlaneHealthy", "status": "True"}],
"credentialProviders": [{"name": "first", "cluster": {"server": "https://old"}}],
"accessProviders": [{"name": "second", "cluster": {"server": "https://second"}},
{"name": "first", "cluster": {"server": "https://eu", "certificate-authority": "/etc/shadow", "tls-server-name": "eu.example.com",
"extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}},
{"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", "extension": ["b"]},
{"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs", "extension": {"A": "profile", "B": "profile"}}]}}]}`).target(all)
	if got.Gap != nil || got.Name != "fleet/eu" {
		t.Fatalf("%+v, %+v", got, got.Gap)
	}
	c, x := got.config, got.config.ExecProvider
	if c.Host != "https://eu" || c.ServerName != "eu.example.com" || c.CAFile != "" || c.BearerToken != "" {
		t.Errorf("%s, %+v", c.Host, c.TLSClientConfig)
	}
	envs, _ := json.Marshal(x.Env)
	info, _ := json.Marshal(x.Config)
	if x.Command != "log-in" || strings.Join(x.Args, " ") != "a b" || x.InteractiveMode != "Never" || !x.ProvideClusterInfo ||
		string(envs) != `[{"name":"A","value":"file"},{"name":"B","value":"profile"}]` || !strings.Contains(string(info), "audience") {
		t.Errorf("%+v, %s, %s", x, envs, info)
	}
	if args := all[0].ExecConfig.Args; len(args) != 1 {
		t.Errorf("the next profile gets %q too", args)
	}
	old := profile(t, `{"credentialProviders": [{"name": "second", "cluster": {"server": "https://old", "extensions": [
{"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", "extension": ["b"]}]}}]}`).target(all)
	if old.Gap != nil || old.config.Host != "https://old" || len(old.config.ExecProvider.Args) != 0 {
		t.Errorf("%+v, %+v", old, old.Gap)
	}
}

// TestNobodyLogsInToAServerWithoutTLS that a profile names: the credentials would be read by others.
func TestNobodyLogsInToAServerWithoutTLS(t *testing.T) {
	t.Parallel()
	all, err := providers(t, providerFile)
	if err != nil {
		t.Fatal(err)
	}
	got := profile(t, `{"accessProviders": [{"name": "second", "cluster": {"server": "http://eu"}}]}`).target(all)
	if got.Gap == nil && got.config.ExecProvider != nil {
		t.Errorf("%+v", got.config)
	}
}

// TestAProfileThatCannotBeUsedIsAGap with its reason, and never left out.
func TestAProfileThatCannotBeUsedIsAGap(t *testing.T) {
	t.Parallel()
	all, err := providers(t, providerFile)
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[string]string{
		`{}`: "Failed: its ClusterProfile has no access provider",
		`{"accessProviders": [{"name": "gke", "cluster": {"server": "https://x"}}, {"name": "aks", "cluster": {"server": "https://y"}}]}`:                                                                        "Failed: its ClusterProfile has no access provider that --clusterprofile-provider-file has: it has aks, gke",
		`{"accessProviders": [{"name": "second", "cluster": {"server": "https://x"}}], "conditions": [{"type": "ControlPlaneHealthy", "status": "False", "reason": "Down", "message": "since\u001b[31m noon"}]}`: `Unavailable: its ClusterProfile says that the control plane is not healthy: Down: since^[[31m noon`,
		`{"accessProviders": [{"name": "second", "cluster": {}}]}`:                     "Failed: its ClusterProfile cannot be used with its provider second: ",
		`{"accessProviders": [{"name": "third", "cluster": {"server": "https://x"}}]}`: "Failed: its ClusterProfile cannot be used with its provider third: ",
		`{"accessProviders": [{"name": "first", "cluster": {"server": "https://x", "extensions": [{"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", "extension": {}}]}}]}`: "Failed: its ClusterProfile cannot be used with its provider first: reading its clusterprofiles",
	} {
		got := profile(t, status).target(all)
		if got.Gap == nil || got.config != nil {
			t.Errorf("%s is reached", status)
			continue
		}
		if said := string(got.Gap.Reason) + ": " + got.Gap.Message; !strings.HasPrefix(said, want) || got.Gap.Cluster != "fleet/eu" {
			t.Errorf("%s: %s, want %s", status, said, want)
		}
	}
}

// TestAFileOfProvidersThatIsWrong is an error before a cluster is asked.
func TestAFileOfProvidersThatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"provider": []}`:               "unknown field",
		`{"providers": [{"name": "a"}]}`: `the provider "a" has no execConfig.command`,
		`{"providers": [{"name": "a", "execConfig": {"command": "x"}, "profileSourcedCLIArgsPolicy": "Prepend"}]}`: "a policy that does not exist",
	} {
		if _, err := providers(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
