package stuck

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhatIsNotSaidOfBystanders asks about objects that are alike but for one thing, with which another
// object, or what the object itself says, explains that a finalizer stays. None of them needs a server.
func TestWhatIsNotSaidOfBystanders(t *testing.T) {
	t.Parallel()
	const cluster = "{apiVersion: management.cattle.io/v3, kind: Cluster, metadata: {name: c-1, uid: c}, status: {conditions: " +
		"[{type: Ready, status: '%s', reason: Known, message: agent is not connected}]}}"
	const binding = "{apiVersion: %s, kind: GlobalRoleBinding, metadata: {name: it, uid: u, finalizers: ['clusterscoped.controller.cattle.io/sync_%s'], %s}}"
	const account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: it, namespace: a, uid: u, labels: {%s}, finalizers: [actions.github.com/cleanup-protection], %s}}"
	const set = "{apiVersion: actions.github.com/v1alpha1, kind: AutoscalingRunnerSet, metadata: {name: kbve, namespace: a, uid: s%s}}"
	const ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: it, namespace: a, uid: u, annotations: {%s}, " +
		"finalizers: ['networking.gke.io/ingress-finalizer'], %s}, status: {loadBalancer: {ingress: [%s]}}}"
	const config = "{apiVersion: operator.tekton.dev/v1alpha1, kind: TektonConfig, metadata: {name: it, uid: u, finalizers: [tektonconfigs.operator.tekton.dev], %s}, " +
		"status: {conditions: [{type: Ready, status: 'False', message: 'failed calling webhook \"namespace.operator.tekton.dev\": service \"proxy\" not found'}]}}"
	const webhook = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hook, uid: h}, webhooks: [" +
		"{name: %s, failurePolicy: %s, clientConfig: {service: {namespace: tekton, name: proxy}}}]}"
	const address, gone = "{ip: 203.0.113.9}", "deletionTimestamp: '2026-01-01T00:00:00Z'"
	of := fmt.Sprintf
	for name, test := range map[string]struct {
		objects []string
		says    string // in the summary
		want    bool
	}{
		"a cluster that is not well":  {[]string{of(binding, "management.cattle.io/v3", "c-1", gone), of(cluster, "False")}, "Cluster c-1", true},
		"one that is well":            {[]string{of(binding, "management.cattle.io/v3", "c-1", gone), of(cluster, "True")}, "Cluster c-1", false},
		"one of another name":         {[]string{of(binding, "management.cattle.io/v3", "c-11", gone), of(cluster, "False")}, "Cluster c-1", false},
		"one of another group":        {[]string{of(binding, "other.cattle.io/v3", "c-1", gone), of(cluster, "False")}, "Cluster c-1", false},
		"a set that lives":            {[]string{of(account, "actions.github.com/scale-set-name: kbve", gone), of(set, "")}, "which is not being deleted", true},
		"a set that goes as well":     {[]string{of(account, "actions.github.com/scale-set-name: kbve", gone), of(set, ", "+gone)}, "which is not being deleted", false},
		"a label of another domain":   {[]string{of(account, "example.com/scale-set-name: kbve", gone), of(set, "")}, "which is not being deleted", false},
		"a label that names no set":   {[]string{of(account, "actions.github.com/scale-set-name: other", gone), of(set, "")}, "which is not being deleted", false},
		"a class of another":          {[]string{of(ingress, "kubernetes.io/ingress.class: nginx", gone, address)}, "nginx", true},
		"the class of the controller": {[]string{of(ingress, "kubernetes.io/ingress.class: gce-internal", gone, address)}, "kubernetes.io/ingress.class", false},
		"no class":                    {[]string{of(ingress, "", gone, address)}, "kubernetes.io/ingress.class", false},
		// Of a file that need not have all Services it is not known whether that of a webhook is gone.
		"a webhook whose Service may be there":         {[]string{of(config, gone), of(webhook, "namespace.operator.tekton.dev", "Fail")}, "does not answer", false},
		"a webhook that may be passed over":            {[]string{of(config, gone), of(webhook, "namespace.operator.tekton.dev", "Ignore")}, "does not answer", false},
		"another webhook":                              {[]string{of(config, gone), of(webhook, "config.operator.tekton.dev", "Fail")}, "does not answer", false},
		"no address, of a controller that is not seen": {[]string{of(ingress, "", gone, "")}, "names no load balancer", false},
	} {
		said := ""
		for _, s := range ofObjects(t, test.objects...).Stuck {
			if s.Object.Name == "it" && len(s.Causes) > 0 {
				said = s.Causes[0].Summary
			}
		}
		if said == "" || strings.Contains(said, test.says) != test.want {
			t.Errorf("%s: %q, want %q in it: %t", name, said, test.says, test.want)
		}
	}
}
