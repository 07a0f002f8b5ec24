package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestOutside reads what would be lost from objects of several kinds, and from one whose fields are
// not what they should be.
func TestOutside(t *testing.T) {
	for _, test := range []struct {
		object string
		want   []string
	}{
		{"metadata: {annotations: {crossplane.io/external-name: vpc-1}}",
			[]string{"annotation crossplane.io/external-name names vpc-1"}},
		{"spec: {csi: {driver: ebs.example.com, volumeHandle: vol-1}}", []string{"its volume is vol-1 of ebs.example.com"}},
		{"spec: {providerID: 'aws:///a/i-1'}", []string{"spec.providerID is aws:///a/i-1"}},
		{"status: {ackResourceMetadata: {arn: 'arn:aws:s3:::b'}}", []string{"status.arn is arn:aws:s3:::b"}},
		{"status: {loadBalancer: {ingress: [{hostname: lb.example.com}, {ip: 192.0.2.1}]}}",
			[]string{"its load balancer is lb.example.com", "its load balancer is 192.0.2.1"}},
		{"{spec: text, status: {loadBalancer: [], providerID: 5}}", nil},
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(test.object), &o.Object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, Outside(o)); diff != "" {
			t.Errorf("%s: %s", test.object, diff)
		}
	}
}
