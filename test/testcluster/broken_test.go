package testcluster

import (
	"context"
	"strings"
	"testing"
)

func TestAPIServiceToNowhere(t *testing.T) {
	c := Shared(t)
	c.Apply(t, `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.nowhere.example.com}
spec:
  group: nowhere.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {namespace: default, name: nobody, port: 443}
`)
	t.Cleanup(func() { c.Kubectl(t, "delete", "apiservice", "v1.nowhere.example.com") })
	Eventually(t, "it is unavailable", func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, "get", "apiservice", "v1.nowhere.example.com", "-o",
			`jsonpath={.status.conditions[?(@.type=="Available")].status}`).Output()
		return string(out) == "False", err
	})
	out, err := c.Command(t.Context(), "get", "--raw", "/apis/nowhere.example.com/v1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ServiceUnavailable") {
		t.Errorf("what it would serve: %v, %s", err, out)
	}
}

func TestDeadConversionWebhook(t *testing.T) {
	c := Shared(t)
	c.Apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.dead.example.com}
spec:
  group: dead.example.com
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: "https://127.0.0.1:1/convert"}
`)
	t.Cleanup(func() { c.Kubectl(t, "delete", "crd", "widgets.dead.example.com") })
	ns := c.Namespace(t)
	Eventually(t, "an instance is made", func(ctx context.Context) (bool, error) {
		cmd := c.Command(ctx, "create", "-n", ns, "-f", "-")
		cmd.Stdin = strings.NewReader("{apiVersion: dead.example.com/v1, kind: Widget, metadata: {name: one}}")
		out, err := cmd.CombinedOutput()
		if err != nil && strings.Contains(string(out), "AlreadyExists") {
			t.Errorf("%s", out)
		}
		return err == nil, nil
	})
	if got := c.Kubectl(t, "get", "widgets.v1.dead.example.com", "-n", ns, "-o",
		"name"); got != "widget.dead.example.com/one\n" {
		t.Errorf("the stored version: %q", got)
	}
	out, err := c.Command(t.Context(), "get", "widgets.v2.dead.example.com", "-n", ns).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "conversion webhook") {
		t.Errorf("the other version: %v, %s", err, out)
	}
}
