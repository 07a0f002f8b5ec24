package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func auditOf(t *testing.T, file string) []v1alpha1.AuditEntry {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var entries []v1alpha1.AuditEntry
	for line := range strings.Lines(string(text)) {
		var e v1alpha1.AuditEntry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		entries = append(entries, e)
	}
	return entries
}

func eventsOf(entries []v1alpha1.AuditEntry) []string {
	var events []string
	for _, e := range entries {
		event := e.Event
		if e.Action != nil {
			event += " " + e.Action.Verb + " " + e.Action.Object.Name
		}
		events = append(events, strings.TrimSpace(event+" "+e.How))
	}
	return events
}

// TestAuditFile has what was agreed to, every write of the command, and how it ended; the file is
// appended to.
func TestAuditFile(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", "")+configMap("other", ""), "-n", ns)
	c.Apply(t, configMap("child", ownedBy("owner", uidOf(t, c, ns, "owner"), "")), "-n", ns)
	c.Allow(t, ns, "reader-"+ns, []string{"get", "list"}, []string{"configmaps"})
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--audit-file", file).want(t, 2,
		"there is no terminal to ask on")
	del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--yes", "--gc=client", "--cascade=foreground", "--strict",
		"--audit-file", file).want(t, 0)
	del(t, c.KubeconfigAs(t, "reader-"+ns), "", "configmap/other", "-n", ns, "--yes", "--audit-file", file).want(t, 2)
	entries := auditOf(t, file)
	want := []string{
		"Refused", "Ended",
		"Agreed yes", "Written block child", "Written delete owner", "Written delete child", "Written removeFinalizer owner",
		"Ended",
		"Refused", "Ended",
	}
	if got := eventsOf(entries); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	agreed, refused := entries[2], entries[8]
	if agreed.Plan == nil || agreed.Plan.Digest == "" || len(agreed.Plan.Actions) != 4 || agreed.User == "" ||
		agreed.Context != "controlplane" || !strings.HasPrefix(agreed.Server, "https://") ||
		agreed.Cluster != c.Kubectl(t, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}") {
		t.Errorf("agreed: user %q, context %q, server %q, cluster %q, plan %+v", agreed.User, agreed.Context, agreed.Server,
			agreed.Cluster, agreed.Plan)
	}
	for i, e := range entries {
		if e.ClusterRef == nil || e.ClusterRef.UID != agreed.Cluster && i < 8 || e.ClusterRef.Context != "controlplane" ||
			e.ClusterRef.Server != agreed.Server || e.ClusterRef.ObservedAt.IsZero() {
			t.Errorf("entry %d is of the cluster %+v", i, e.ClusterRef)
		}
	}
	if refused.User != "reader-"+ns || !strings.Contains(refused.Error, "you may not delete") {
		t.Errorf("refused: user %q, error %q", refused.User, refused.Error)
	}
	if entries[0].Run == entries[2].Run || entries[2].Run != entries[7].Run || entries[7].Error != "" ||
		entries[9].Error == "" {
		t.Errorf("the runs, or how they ended: %+v", entries)
	}
}

// TestAWriteThatFailsIsInTheAuditFile, with the error.
func TestAWriteThatFailsIsInTheAuditFile(t *testing.T) {
	t.Parallel()
	_, ns, proxy := withConfigMaps(t, "one")
	proxy.On(deletes, faultproxy.Status(403, "Forbidden", "a policy denies it"))
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	del(t, proxy.Kubeconfig(t), "", "configmap/one", "-n", ns, "--yes", "--audit-file", file).want(t, 1)
	entries := auditOf(t, file)
	if got := eventsOf(entries); !slices.Equal(got, []string{"Agreed yes", "Failed delete one", "Ended"}) ||
		!strings.Contains(entries[1].Error, "a policy denies it") {
		t.Errorf("%q: %+v", got, entries)
	}
}

// TestNothingIsWrittenWithoutItsAudit: neither if the file cannot be opened, nor if what was agreed
// to cannot be written.
func TestNothingIsWrittenWithoutItsAudit(t *testing.T) {
	t.Parallel()
	c, ns, proxy := withConfigMaps(t, "one")
	for file, want := range map[string]string{
		"/nowhere/audit.jsonl": "open /nowhere/audit.jsonl: no such file or directory",
		"/dev/full":            "writing the audit file /dev/full: ",
	} {
		d := del(t, proxy.Kubeconfig(t), "", "configmap/one", "-n", ns, "--yes", "--audit-file", file)
		d.want(t, 1, want)
		if strings.Count(d.stderr, want) != 1 {
			t.Errorf("it is said more than once: %s", d.stderr)
		}
	}
	if len(sent(proxy)) != 0 || uidOf(t, c, ns, "one") == "" {
		t.Errorf("deletes were sent: %v", sent(proxy))
	}
}

// TestADeletionStopsWhenItsAuditCannotBeWritten: the delete that is under way is finished, and the
// next is not sent.
func TestADeletionStopsWhenItsAuditCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", ""), "-n", ns)
	c.Apply(t, configMap("child", ownedBy("owner", uidOf(t, c, ns, "owner"), "")), "-n", ns)
	pipe := filepath.Join(t.TempDir(), "audit")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		file, err := os.Open(pipe)
		if err == nil {
			_, err = bufio.NewReader(file).ReadString('\n') // what was agreed to
			file.Close()
		}
		read <- err
	}()
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if err := <-read; err != nil {
			t.Error(err)
		}
		next.ServeHTTP(w, r)
	})
	d := del(t, proxy.Kubeconfig(t), "", "configmap/owner", "configmap/child", "-n", ns, "--yes", "--audit-file", pipe)
	d.want(t, 1, "error: writing the audit file "+pipe+": ", "the delete was not sent for 1 of the named objects")
	if uidOf(t, c, ns, "child") != "" || uidOf(t, c, ns, "owner") == "" || len(sent(proxy)) != 1 {
		t.Errorf("sent %v", sent(proxy))
	}
}

// TestADeleteWhoseOutputIsNotReadToTheEnd sends nothing more, and has each write that it sent in
// the audit file, with its answer, and its end.
func TestADeleteWhoseOutputIsNotReadToTheEnd(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var manifests strings.Builder
	const objects = 60
	for i := range objects {
		manifests.WriteString(configMap(fmt.Sprintf("c%02d", i), ""))
	}
	c.Apply(t, manifests.String(), "-n", ns)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete }, faultproxy.Delay(50*time.Millisecond))
	read, write := io.Pipe()
	go func() {
		lines := bufio.NewScanner(read)
		for lines.Scan() && !strings.Contains(lines.Text(), " deleted") {
		}
		read.Close() // as head does
	}()
	var stderr script.Buffer
	code := cmd.Main(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: write, ErrOut: &stderr},
		[]string{"kubectl-gc",
			"delete", "configmaps", "--all", "--yes", "--audit-file", file, "--concurrency", "4", "-n", ns, "--kubeconfig",
			proxy.Kubeconfig(t)})
	if code != 1 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	written := map[string]bool{}
	entries := auditOf(t, file)
	for _, e := range entries {
		if e.Event == v1alpha1.AuditWritten {
			written[e.Action.Object.Name] = true
		}
	}
	left := strings.Fields(c.Kubectl(t, "get", "configmaps", "-n", ns, "-o", "name"))
	for _, name := range left {
		if written[strings.TrimPrefix(name, "configmap/")] {
			t.Errorf("%s is there, and was deleted by the audit file", name)
		}
	}
	if len(written)+len(left) != objects || len(left) < objects/2 {
		t.Errorf("%d objects are left and %d were deleted by the audit file, of %d", len(left), len(written), objects)
	}
	if last := entries[len(entries)-1]; last.Event != v1alpha1.AuditEnded || last.Error == "" {
		t.Errorf("the last entry is %+v", last)
	}
}
