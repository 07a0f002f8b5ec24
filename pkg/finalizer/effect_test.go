package finalizer_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// TestVerdicts reads the sentences of one finalizer of each polarity: which way keeps things must
// come out right.
func TestVerdicts(t *testing.T) {
	r := embedded(t)
	for _, c := range []struct{ name, group, kind, completion, removal string }{
		{"service.kubernetes.io/load-balancer-cleanup", "", "Service",
			"the service controller deletes the load balancer in the cloud, then removes the finalizer",
			"removing it skips the cleanup: the load balancer, its public address and its firewall rules leak: they cost, and stay open to the world"},
		{"kubernetes.io/pvc-protection", "", "PersistentVolumeClaim",
			"the PVC protection controller keeps the claim while a scheduled pod uses it, even a completed one, then removes the finalizer",
			"removing it ends the protection: the claim goes while a pod still mounts the volume; with reclaimPolicy Delete the disk is deleted under it"},
		{"batch.kubernetes.io/job-tracking", "", "Pod",
			"the job controller counts the pod in the status of its Job, then removes the finalizer",
			"removing it skips the bookkeeping: the Job may count wrong and run one more pod; harmless when the Job is gone"},
		{"orphan", "apps", "Deployment",
			"the garbage collector takes the owner out of the ownerReferences of all its dependents, then removes the finalizer",
			"removing it passes the garbage collector by: the dependents still name an owner that is absent, so the garbage collector deletes them: an orphaning delete becomes a cascading one"},
		{"cnpg.io/deleteDatabase", "postgresql.cnpg.io", "Database",
			"honouring it deletes: the CloudNativePG instance manager drops the database in PostgreSQL if its reclaim policy is delete, then removes the finalizer",
			"removing it skips the deletion that honouring it does: the database stays in PostgreSQL, and with it its data"},
		{"app.oam.dev/orphan-resource", "core.oam.dev", "Application",
			"honouring it keeps: KubeVela leaves the dispatched resources where they are, then removes the finalizer",
			"removing it deletes what honouring it keeps: the dispatched resources are deleted with the Application"},
		{"widgets.example.com/finalizer", "example.com", "Widget",
			"probably the operator of its group does its cleanup, then removes the finalizer",
			"removing it skips the cleanup: what it would clean up leaks"},
	} {
		k, ok := r.Lookup(c.name, c.group, c.kind)
		if !ok {
			t.Errorf("%s is not known", c.name)
			continue
		}
		if got := k.OnCompletion(); got != c.completion {
			t.Errorf("%s: OnCompletion:\ngot:  %s\nwant: %s", c.name, got, c.completion)
		}
		if got := k.OnRemoval(); got != c.removal {
			t.Errorf("%s: OnRemoval:\ngot:  %s\nwant: %s", c.name, got, c.removal)
		}
	}
}

func TestWho(t *testing.T) {
	for actor, want := range map[string]string{
		"Argo CD": "Argo CD", "cert-manager": "cert-manager", "kube-apiserver": "kube-apiserver",
		"Rook operator": "the Rook operator", "CSI external-attacher": "the CSI external-attacher",
		"AWS Load Balancer Controller": "AWS Load Balancer Controller",
	} {
		if got := (finalizer.Known{Actor: actor}).Who(); got != want {
			t.Errorf("%s: %s, want %s", actor, got, want)
		}
	}
}
