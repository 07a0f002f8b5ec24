package synthetic_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/synthetic"
)

var uid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// clusters is how many clusters are asked: more than --parallel. make test-faults asks 200.
var clusters = flag.Int("clusters", 20, "how many clusters are asked")

// TestNoRowOfAClusterNamesAnother: clusters that differ only in uids are asked at once. Each
// document has the uids of its own cluster, and each line its name.
func TestNoRowOfAClusterNamesAnother(t *testing.T) {
	config := clientcmdapi.NewConfig()
	own := map[string]string{} // the cluster of each Deployment, by its uid
	for i := range *clusters {
		server := synthetic.Start(synthetic.Shape{Objects: 200, Types: 20, Salt: i})
		t.Cleanup(server.Close)
		name := fmt.Sprintf("c%03d", i)
		config.Clusters[name] = &clientcmdapi.Cluster{Server: server.Config().Host, CertificateAuthorityData: server.Config().CAData}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, Namespace: synthetic.Namespace}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, httptest.NewRequest(http.MethodGet,
			"/apis/apps/v1/namespaces/"+synthetic.Namespace+"/deployments/"+synthetic.Deployment, nil))
		var deployment struct{ Metadata struct{ UID string } }
		if err := json.Unmarshal(answer.Body.Bytes(), &deployment); err != nil || own[deployment.Metadata.UID] != "" {
			t.Fatalf("%v, %q is that of cluster %q", err, deployment.Metadata.UID, own[deployment.Metadata.UID])
		}
		own[deployment.Metadata.UID] = name
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		code, out, errOut := script.InProcess(t.Context(), "", append(args, "--contexts", "c*", "--kubeconfig", kubeconfig)...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errOut)
		}
		return out
	}
	var list v1alpha1.List
	if err := json.Unmarshal([]byte(run("tree", "deployment/"+synthetic.Deployment, "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != *clusters || !list.Complete {
		t.Fatalf("%d items, complete %t", len(list.Items), list.Complete)
	}
	seen := map[string]string{}
	for i, item := range list.Items {
		var text bytes.Buffer
		if err := json.NewEncoder(&text).Encode(item["nodes"]); err != nil {
			t.Fatal(err)
		}
		context, _ := item["clusterRef"].(map[string]any)["context"].(string)
		if want := fmt.Sprintf("c%03d", i); context != want {
			t.Errorf("item %d is of %s, want %s: they are in order", i, context, want)
		}
		uids := uid.FindAllString(text.String(), -1)
		if len(uids) < synthetic.OfDeployment || own[uids[0]] == "" && own[uids[len(uids)-1]] == "" {
			t.Errorf("%s has %d uids", context, len(uids))
		}
		for _, uid := range uids {
			if other := seen[uid]; other != "" && other != context || own[uid] != "" && own[uid] != context {
				t.Fatalf("%s names %s of %s%s", context, uid, other, own[uid])
			}
			seen[uid] = context
		}
	}
	lines := strings.Split(strings.TrimSpace(run("tree", "deployment/"+synthetic.Deployment, "-o", "wide", "--no-headers")), "\n")
	rows := 0
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, " ")
		for _, uid := range uid.FindAllString(rest, -1) {
			if seen[uid] != name {
				t.Fatalf("a row of %s has a uid of %s: %s", name, seen[uid], line)
			}
			rows++
		}
	}
	if rows < *clusters*synthetic.OfDeployment {
		t.Errorf("%d uids in rows", rows)
	}
}
