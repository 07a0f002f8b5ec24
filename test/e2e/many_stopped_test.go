package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// aClusterThatStopsIsAGap: of three clusters the server of one is killed when it has said which it
// is and what it has, and is about to list. Its rows are gaps with the reason, and what was wrong in
// it is not said to be gone; the rows of the others are whole.
func aClusterThatStopsIsAGap(t *testing.T, stops *testcluster.Cluster, namespace string) {
	planes := map[string]*testcluster.Cluster{"a": testcluster.Shared(t), "stops": stops,
		"z": testcluster.Another(t, "types", workloads)}
	files, uids, namespaces := map[string]string{}, map[string]string{}, map[string]string{"stops": namespace}
	for name, c := range planes {
		if namespaces[name] == "" {
			namespaces[name] = c.Namespace(t)
		}
		c.Apply(t, dangling("of-"+name), "-n", namespaces[name])
		files[name] = c.Kubeconfig()
		uids[name] = c.Kubectl(t, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	}
	proxy := faultproxy.Start(t, stops.Config())
	var kill sync.Once
	proxy.On(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/namespaces/"+namespace+"/") },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			kill.Do(func() {
				stops.StopAPIServer(t)
				t.Cleanup(func() { stops.StartAPIServer(t) }) // whoever has made the namespace deletes it
			})
			faultproxy.Reset()(w, r, next)
		})
	files["stops"] = proxy.Kubeconfig(t)
	kubeconfig := several(t, files)
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for name, namespace := range namespaces {
		config.Contexts[name].Namespace = namespace
	}
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	got := run(t, "check", "--contexts", "*", "--kubeconfig", kubeconfig, "-o", "ndjson")
	var rows []string
	for line := range strings.Lines(got.stdout) {
		var row v1alpha1.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if row.ClusterUID != uids[row.Cluster] || row.Row == "cluster" && row.Complete == (row.Cluster == "stops") ||
			row.Row == "gap" && row.Message == "" {
			t.Errorf("of the uid %s: %s", uids[row.Cluster], line)
		}
		rows = append(rows, strings.Join([]string{row.Cluster, row.Row, row.Code, row.Name}, " "))
	}
	slices.Sort(rows)
	want := []string{"a cluster  ", "a finding OwnerAbsent of-a", "stops cluster  ", "stops gap Unavailable ", "z cluster  ",
		"z finding OwnerAbsent of-z"}
	if !slices.Equal(slices.Compact(rows), want) || got.code != 2 {
		t.Errorf("code %d, rows %q, want %q; %s", got.code, rows, want, got.stderr)
	}
}
