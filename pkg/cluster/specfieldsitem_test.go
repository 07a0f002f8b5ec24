package cluster

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestSpecFieldsOfWhatAsksForSomething: requests as the scheduler has them, and the DNS names that
// each type has elsewhere.
func TestSpecFieldsOfWhatAsksForSomething(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ object, want string }{
		"containers":            {`{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"500m"}}}]}}`, "cpu 1500m"},
		"a larger one before":   {`{"spec":{"initContainers":[{"resources":{"requests":{"cpu":"3"}}}],"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}`, "cpu 3"},
		"a sidecar":             {`{"spec":{"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"3"}}}],"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}`, "cpu 4"},
		"overhead":              {`{"spec":{"overhead":{"cpu":"250m"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}`, "cpu 1250m"},
		"of the pod":            {`{"spec":{"resources":{"requests":{"cpu":"5"}},"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}`, "cpu 5"},
		"none":                  {`{"spec":{"containers":[{"name":"c"}]}}`, ""},
		"PersistentVolumeClaim": {`{"spec":{"resources":{"requests":{"storage":"5Gi"}}}}`, "storage 5Gi"},
		"Ingress":               {`{"spec":{"rules":[{"host":"b.example.com"},{"http":{}}],"tls":[{"hosts":["a.example.com","b.example.com"]}]}}`, "[a.example.com b.example.com]"},
		"HTTPRoute":             {`{"spec":{"hostnames":["a.example.com"],"rules":[{"backendRefs":[]}]}}`, "[a.example.com]"},
		"Certificate":           {`{"spec":{"commonName":"c.example.com","dnsNames":["a.example.com"]}}`, "[a.example.com c.example.com]"},
		"DNSEndpoint":           {`{"spec":{"endpoints":[{"dnsName":"a.example.com","targets":["203.0.113.7"]}]}}`, "[a.example.com]"},
		"Service": {`{"metadata":{"annotations":{"external-dns.alpha.kubernetes.io/hostname":"b.example.com, a.example.com",
			"external-dns.alpha.kubernetes.io/internal-hostname":"c.example.com","other":"x"}},"spec":{"ports":[{"port":80}]}}`,
			"[a.example.com b.example.com c.example.com]"},
	} {
		var it specFieldsItem
		if err := json.Unmarshal([]byte(test.object), &it); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fields, got := it.specFields(), ""
		for resource, q := range fields.Requests {
			got += resource + " " + q.String()
		}
		if len(fields.DNSNames) > 0 {
			got += fmt.Sprint(fields.DNSNames)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
