package finalizer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// embedded returns the packs that come with the plugin. That they load is that every entry is
// valid.
func embedded(t testing.TB) *finalizer.Registry {
	t.Helper()
	packs, err := plugins.Packs()
	if err != nil {
		t.Fatal(err)
	}
	r, err := finalizer.Load(packs)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEmbeddedIsWhole fails when packs or entries get lost.
func TestEmbeddedIsWhole(t *testing.T) {
	entries, alive := 0, 0
	for _, pack := range embedded(t).Packs() {
		for _, k := range pack.Finalizers {
			entries++
			a := k.Alive
			if len(a.Deployments)+len(a.StatefulSets)+len(a.DaemonSets)+len(a.Labels)+len(a.Leases)+len(a.APIServices)+
				len(a.Webhooks) > 0 || a.Note != "" {
				alive++
			}
		}
	}
	if entries < 454 {
		t.Errorf("the packs have %d entries, fewer than the 454 there once were", entries)
	}
	if alive < 454 {
		t.Errorf("%d entries say how to tell whether the component is alive, fewer than the 454 there once were", alive)
	}
}

// TestEmbeddedReads holds what a sentence is made of: no entry may end up in one that says nothing
// or stutters.
func TestEmbeddedReads(t *testing.T) {
	for _, pack := range embedded(t).Packs() {
		for _, k := range pack.Finalizers {
			if strings.HasPrefix(k.Does, "the ") || !strings.Contains(k.Does, " ") {
				t.Errorf("%s: %s: does is %q; say what the actor does, as in %q", pack.File, k.ID, k.Does,
					"deletes the load balancer")
			}
			for _, sentences := range []string{k.Before, k.Note, k.Alive.Note} {
				if sentences != "" && !strings.HasSuffix(sentences, ".") {
					t.Errorf("%s: %s: %q does not end in a full stop", pack.File, k.ID, sentences)
				}
			}
		}
	}
}

// TestWhatASettingDecidesIsRead: an entry that names a setting names the field of it, so that the
// digest of a plan has it.
func TestWhatASettingDecidesIsRead(t *testing.T) {
	// in what an Application manages, as its links say
	elsewhere := map[string]bool{"argocd-application": true, "argocd-application-policy": true}
	for _, pack := range embedded(t).Packs() {
		for _, k := range pack.Finalizers {
			if settings := k.Knob != "" || len(k.Spares) > 0; settings && !elsewhere[k.ID] != (len(k.Decides) > 0) {
				t.Errorf("%s: %s: %q is a setting, and it decides by %v", pack.File, k.ID, k.Knob, k.Decides)
			}
			for _, alternative := range k.Spares {
				for _, c := range alternative {
					if !slices.ContainsFunc(k.Decides, func(d finalizer.Decision) bool {
						return d.Annotation == c.Annotation && strings.HasPrefix(c.Field.String(), d.Field.String())
					}) {
						t.Errorf("%s: %s: it spares by %s, and does not decide by it", pack.File, k.ID, c)
					}
				}
			}
		}
	}
}

// TestEmbeddedKnows asks for the finalizers that must be right.
func TestEmbeddedKnows(t *testing.T) {
	r := embedded(t)
	for _, want := range []struct {
		name, group, kind string
		actor             string
		risk              finalizer.Risk
		polarity          finalizer.Polarity
	}{
		{"kubernetes", "", "Namespace", "namespace controller", finalizer.BreaksCluster, finalizer.Cleanup},
		{"orphan", "apps", "Deployment", "garbage collector", finalizer.DataLoss, finalizer.BuiltinGC},
		{"foregroundDeletion", "", "Pod", "garbage collector", finalizer.RiskNone, finalizer.BuiltinGC},
		{"kubernetes.io/pvc-protection", "", "PersistentVolumeClaim", "PVC protection controller", finalizer.DataLoss,
			finalizer.Guard},
		{"kubernetes.io/pv-protection", "", "PersistentVolume", "PV protection controller", finalizer.DataLoss,
			finalizer.Guard},
		{"external-provisioner.volume.kubernetes.io/finalizer", "", "PersistentVolume", "CSI external-provisioner",
			finalizer.LeaksExternal, finalizer.Cleanup},
		{"external-attacher/ebs-csi-aws-com", "storage.k8s.io", "VolumeAttachment", "CSI external-attacher",
			finalizer.DataLoss, finalizer.Cleanup},
		{"customresourcecleanup.apiextensions.k8s.io", "apiextensions.k8s.io", "CustomResourceDefinition", "CRD finalizer",
			finalizer.BreaksCluster, finalizer.Cleanup},
		{"service.kubernetes.io/load-balancer-cleanup", "", "Service", "service controller", finalizer.LeaksExternal,
			finalizer.Cleanup},
		{"batch.kubernetes.io/job-tracking", "", "Pod", "job controller", finalizer.RiskNone, finalizer.Bookkeeping},
		{"networking.k8s.io/service-cidr-finalizer", "networking.k8s.io", "ServiceCIDR", "service CIDR controller",
			finalizer.BreaksCluster, finalizer.Guard},
		{"resource.kubernetes.io/delete-protection", "resource.k8s.io", "ResourceClaim", "resource claim controller",
			finalizer.BreaksCluster, finalizer.Guard},
		{"resources-finalizer.argocd.argoproj.io", "argoproj.io", "Application", "Argo CD", finalizer.LeaksExternal,
			finalizer.OptInDestructive},
		{"resources-finalizer.argocd.argoproj.io/background", "argoproj.io", "Application", "Argo CD",
			finalizer.LeaksExternal, finalizer.OptInDestructive},
		{"resources-finalizer.argocd.argoproj.io", "argoproj.io", "AppProject", "Argo CD", finalizer.RiskNone,
			finalizer.Guard},
		{"finalizers.fluxcd.io", "kustomize.toolkit.fluxcd.io", "Kustomization", "Flux kustomize-controller",
			finalizer.LeaksExternal, finalizer.OptInDestructive},
		{"finalizers.fluxcd.io", "source.toolkit.fluxcd.io", "GitRepository", "Flux source-controller", finalizer.RiskNone,
			finalizer.Cleanup},
		{"acme.cert-manager.io/finalizer", "acme.cert-manager.io", "Challenge", "cert-manager", finalizer.LeaksExternal,
			finalizer.Cleanup},
		{"finalizer.managedresource.crossplane.io", "s3.aws.upbound.io", "Bucket", "Crossplane provider",
			finalizer.LeaksExternal, finalizer.Cleanup},
		{"in-use.crossplane.io", "aws.upbound.io", "ProviderConfig", "Crossplane provider", finalizer.LeaksExternal,
			finalizer.Guard},
		{"machine.cluster.x-k8s.io", "cluster.x-k8s.io", "Machine", "Cluster API", finalizer.LeaksExternal,
			finalizer.Cleanup},
		{"awscluster.infrastructure.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "AWSCluster",
			"Cluster API infrastructure provider", finalizer.LeaksExternal, finalizer.Cleanup},
		{"karpenter.sh/termination", "", "Node", "Karpenter", finalizer.LeaksExternal, finalizer.Cleanup},
		{"group.ingress.k8s.aws/shared", "networking.k8s.io", "Ingress", "AWS Load Balancer Controller",
			finalizer.LeaksExternal, finalizer.Cleanup},
		{"finalizers.ec2.services.k8s.aws/VPC", "ec2.services.k8s.aws", "VPC", "AWS Controllers for Kubernetes",
			finalizer.LeaksExternal, finalizer.Cleanup},
		{"cephcluster.ceph.rook.io", "ceph.rook.io", "CephCluster", "Rook operator", finalizer.DataLoss, finalizer.Guard},
		{"ceph.rook.io/disaster-protection", "", "Secret", "Rook operator", finalizer.DataLoss, finalizer.Guard},
		{"longhorn.io", "longhorn.io", "Volume", "Longhorn manager", finalizer.DataLoss, finalizer.Cleanup},
		{"tigera.io/cni-protector", "rbac.authorization.k8s.io", "ClusterRole", "Tigera operator", finalizer.BreaksCluster,
			finalizer.Guard},
		{"chaos-mesh/records", "chaos-mesh.org", "NetworkChaos", "Chaos Mesh", finalizer.BreaksCluster, finalizer.Cleanup},
		{"controller.cattle.io/namespace-auth", "", "Namespace", "Rancher", finalizer.RiskNone, finalizer.Bookkeeping},
		{"wrangler.cattle.io/VMController.CleanupPVCAndSnapshot", "kubevirt.io", "VirtualMachine", "Harvester",
			finalizer.LeaksExternal, finalizer.Cleanup},
		{"wrangler.cattle.io/another", "kubevirt.io", "VirtualMachine", "controller built on wrangler",
			finalizer.LeaksExternal, finalizer.Cleanup},
		{"app.oam.dev/orphan-resource", "core.oam.dev", "Application", "KubeVela", finalizer.DataLoss,
			finalizer.OptInProtective},
		{"percona.com/delete-pxc-pvc", "pxc.percona.com", "PerconaXtraDBCluster", "Percona XtraDB Cluster operator",
			finalizer.RiskNone, finalizer.OptInDestructive},
		{"redisFinalizer", "redis.redis.opstreelabs.in", "Redis", "OT redis-operator", finalizer.RiskNone,
			finalizer.OptInDestructive},
		{"flinkdeployments.flink.apache.org/finalizer", "flink.apache.org", "FlinkDeployment", "Flink Kubernetes operator",
			finalizer.LeaksExternal, finalizer.Cleanup},
		{"widgets.example.com/finalizer", "example.com", "Widget", "operator of its group", finalizer.LeaksExternal,
			finalizer.Cleanup},
	} {
		k, ok := r.Lookup(want.name, want.group, want.kind)
		if !ok {
			t.Errorf("%s on %s is not known", want.name, want.kind)
			continue
		}
		if k.Actor != want.actor || k.Risk != want.risk || k.Polarity != want.polarity {
			t.Errorf("%s on %s: %s, %s, %s (%s); want %s, %s, %s", want.name, want.kind, k.Actor, k.Risk, k.Polarity, k.ID,
				want.actor, want.risk, want.polarity)
		}
	}
	for _, unknown := range []struct{ name, group, kind string }{
		{"example.com/hold", "", "ConfigMap"},
		{"kubernetes.io/pvc-protection", "", "ConfigMap"},
		{"finalizers.fluxcd.io", "example.com", "Widget"},
	} {
		if k, ok := r.Lookup(unknown.name, unknown.group, unknown.kind); ok {
			t.Errorf("%s on %s is taken for %s", unknown.name, unknown.kind, k.ID)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		embedded(b)
	}
}

func BenchmarkLookup(b *testing.B) {
	r := embedded(b)
	b.ReportAllocs()
	for b.Loop() {
		r.Lookup("example.com/hold", "", "ConfigMap")
	}
}
