package finalizer_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestExternal: the fields in which objects name what they stand for outside the cluster.
func TestExternal(t *testing.T) {
	t.Parallel()
	r := embedded(t)
	const gateway = "{status: {addresses: [{type: Hostname, value: lb.example.com}, {value: 203.0.113.7}]}}"
	const service = "{status: {loadBalancer: {ingress: [{hostname: lb.example.com}, {ip: 203.0.113.7}]}}}"
	balancers := []string{"load balancer lb.example.com", "load balancer 203.0.113.7"}
	for _, test := range []struct {
		name, group, kind, object string
		want                      []string
	}{
		{"service.kubernetes.io/load-balancer-cleanup", "", "Service", service, balancers},
		{"service.k8s.alibaba/nlb", "", "Service", service, balancers},
		{"service.k8s.alibaba/resources", "", "Service", service, balancers},
		{"gateway.k8s.aws/alb", "gateway.networking.k8s.io", "Gateway", gateway, balancers},
		{"gateway.k8s.aws/nlb", "gateway.networking.k8s.io", "Gateway", gateway, balancers},
		{"gateway.finalizer.networking.gke.io", "gateway.networking.k8s.io", "Gateway", gateway, balancers},
		{"gateway.k8s.aws/alb", "gateway.networking.k8s.io", "Gateway", "{status: {}}", nil},
		{"groupsnapshot.storage.kubernetes.io/volumegroupsnapshotcontent-bound-protection", "groupsnapshot.storage.k8s.io",
			"VolumeGroupSnapshotContent", "{status: {volumeGroupSnapshotHandle: g-1}}", []string{"group snapshot g-1"}},
		{"hive.openshift.io/dnszone", "hive.openshift.io", "DNSZone", "{spec: {zone: a.example.com}}",
			[]string{"DNS zone a.example.com"}},
		{"operator.openshift.io/ingress-dns", "ingress.operator.openshift.io", "DNSRecord",
			"{spec: {dnsName: '*.apps.example.com.'}}", []string{"DNS record *.apps.example.com."}},
		{"services.cloud.sap.com/sap-btp-finalizer", "services.cloud.sap.com", "ServiceInstance",
			"{status: {instanceID: i-1}}", []string{"SAP BTP service instance i-1"}},
		{"autoscalingrunnerset.actions.github.com/finalizer", "actions.github.com", "AutoscalingRunnerSet",
			"{metadata: {annotations: {runner-scale-set-id: '9'}}}", []string{"runner scale set 9"}},
		{"awsmachine.infrastructure.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "AWSMachine",
			"{spec: {providerID: 'aws:///z/i-1'}}", []string{"machine aws:///z/i-1"}},
		{"awscluster.infrastructure.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "AWSCluster", "{spec: {}}", nil},
	} {
		k, known := r.Lookup(test.name, test.group, test.kind)
		var object map[string]any
		if err := yaml.Unmarshal([]byte(test.object), &object); err != nil || !known {
			t.Fatalf("%s: known %v, %v", test.name, known, err)
		}
		var got []string
		for _, e := range k.External {
			for _, name := range e.Names(object) {
				got = append(got, e.Is+" "+name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s of %s: %q, want %q", test.name, test.kind, got, test.want)
		}
	}
}
