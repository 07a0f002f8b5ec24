package unfinalize

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// webhook serves admission reviews of updates of config maps in the namespace, and registers itself
// as a mutating or a validating webhook. The answer may be changed.
func (f *fixture) webhook(kind string, answer func(old, now map[string]any, response map[string]any)) string {
	f.t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		_ = json.NewDecoder(r.Body).Decode(&review)
		request := review["request"].(map[string]any)
		response := map[string]any{"uid": request["uid"], "allowed": true}
		old, _ := request["oldObject"].(map[string]any)
		now, _ := request["object"].(map[string]any)
		answer(old, now, response)
		delete(review, "request")
		review["response"] = response
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	f.t.Cleanup(server.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificate().Raw}))
	name := strings.ToLower(kind) + "-" + f.namespace
	f.c.Apply(f.t, fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: %sWebhookConfiguration
metadata: {name: %s}
webhooks:
- name: finalizers.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: %q, caBundle: %s}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [UPDATE]}]
`, kind, name, server.URL, ca, f.namespace))
	f.t.Cleanup(func() { f.c.Kubectl(f.t, "delete", strings.ToLower(kind)+"webhookconfiguration", name) })
	return name
}

// TestWebhookPutsItBackInTheSameRequest_API033: the answer is 200, and the finalizer is there. The
// webhook is named.
func TestWebhookPutsItBackInTheSameRequest_API033(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "held", hold)
	f.delete(configMapType, "held", metav1.DeletePropagationBackground)
	name := f.webhook("Mutating", func(_, now, response map[string]any) {
		if now["metadata"].(map[string]any)["name"] == "held" {
			patch := []byte(`[{"op":"add","path":"/metadata/finalizers","value":["` + hold + `"]}]`)
			response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString(patch)
		}
	})
	// The server learns of a webhook some time after it is registered.
	testcluster.Eventually(t, "the webhook to be called", func(ctx testContext) (bool, error) {
		o := f.get(configMapType, "held")
		answer, err := f.client.Patch(ctx, configMapType, f.namespace, "held",
			removal(o, []Assessment{{FinalizerRef: FinalizerRef{hold, "metadata.finalizers"}}}), dryRun)
		return err == nil && slices.Contains(answer.Finalizers, hold), err
	})
	c := f.judge(f.client, configMapType, []string{hold}, "held")[0]
	o := f.perform(f.client, Options{}, c)[0]
	if len(o.PutBack) != 1 || !o.PutBack[0].InRequest ||
		!slices.Contains(o.PutBack[0].Webhooks, name+"/finalizers.example.com") {
		t.Errorf("put back: %+v, want in the same request by %s", o.PutBack, name)
	}
	var back *cluster.PutBackError
	if len(o.Done) != 0 || !errors.As(o.Err, &back) ||
		!strings.Contains(back.Error(), "finalizer "+hold+" was put back in the same request") {
		t.Errorf("done %v, error %v; want nothing done, and a failure", o.Done, o.Err)
	}
	f.is(configMapType, "held", hold)
}

// TestOneOfTwoFinalizersIsPutBack: what was removed is done, and what was put back is a failure.
func TestOneOfTwoFinalizersIsPutBack(t *testing.T) {
	f := newFixture(t)
	const other = "example.com/other"
	f.make(configMapType, "held", hold, other)
	f.delete(configMapType, "held", metav1.DeletePropagationBackground)
	proxy := faultproxy.Start(t, f.c.Config())
	proxy.On(method(http.MethodPatch), faultproxy.Edit(func(v any) any {
		v.(map[string]any)["metadata"].(map[string]any)["finalizers"] = []any{hold}
		return v
	}))
	client := connect(t, proxy.Config())
	var told []plan.Event
	o := f.perform(client, Options{OnEvent: func(e plan.Event) { told = append(told, e) }},
		f.judge(client, configMapType, []string{hold, other}, "held")[0])[0]
	if len(told) != 2 || told[0].Err != nil || !slices.Equal(told[0].Action.Finalizers, []string{other}) || told[1].Err == nil {
		t.Errorf("told %+v, want what was removed and what failed", told)
	}
	if len(o.Done) != 1 || !slices.Equal(o.Done[0].Finalizers, []string{other}) || o.Err == nil ||
		!strings.Contains(o.Err.Error(), "finalizer "+hold+" was put back") {
		t.Errorf("done %+v, error %v", o.Done, o.Err)
	}
}

// TestOrphaningThatIsUndoneIsAFailure: a policy puts the references of the dependents back. The
// owner keeps its finalizer, and there is no end of patches.
func TestOrphaningThatIsUndoneIsAFailure(t *testing.T) {
	f := newFixture(t)
	owner := f.orphaning("owner")
	f.own(configMapType, "a", owner)
	policy := f.c.PutBack(t, f.namespace)
	proxy := faultproxy.Start(t, f.c.Config())
	client := connect(t, proxy.Config())
	c := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
	o := f.perform(client, Options{}, c)[0]
	if len(o.Done) != 0 || o.Err == nil || !strings.Contains(o.Err.Error(), "it keeps its finalizer") ||
		!strings.Contains(o.Err.Error(), policy) {
		t.Errorf("done %+v, error %v", o.Done, o.Err)
	}
	f.is(configMapType, "owner", plan.OrphanFinalizer)
	if n := proxy.Count(http.MethodPatch, ""); n > 2 {
		t.Errorf("%d patches", n)
	}
}

// TestFinalizedNamespaceThatIsNotIsAFailure: a policy puts the finalizer back into the spec.
func TestFinalizedNamespaceThatIsNotIsAFailure(t *testing.T) {
	f := newFixture(t)
	policy := f.c.PutBack(t, f.namespace)
	f.terminating()
	o := f.perform(f.client, Options{}, f.judgeNamespace(f.client))[0]
	var back *cluster.PutBackError
	if len(o.Done) != 0 || !errors.As(o.Err, &back) || !slices.Contains(back.Mutators, policy) {
		t.Errorf("done %+v, error %v; want a failure that names the policy", o.Done, o.Err)
	}
}

// TestControllerPutsItBack: a controller of a live object does, a moment later. Its field manager
// is named.
func TestControllerPutsItBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// Of an object of which nothing was applied the server keeps no managedFields.
	f.c.Apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: ["+hold+"]}\ndata: {a: b}\n", "-n",
		f.namespace)
	t.Cleanup(func() { f.free(configMapType, "held") })
	watch, err := f.of(configMapType).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=held"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { watch.Stop(); <-done })
	go func() {
		defer close(done)
		for e := range watch.ResultChan() {
			o, ok := e.Object.(interface{ GetFinalizers() []string })
			if ok && e.Type == "MODIFIED" && !slices.Contains(o.GetFinalizers(), hold) {
				patch := []byte(`{"metadata":{"finalizers":["` + hold + `"]}}`)
				_, _ = f.of(configMapType).Patch(t.Context(), "held", "application/merge-patch+json", patch,
					metav1.PatchOptions{FieldManager: "stubborn-controller"})
			}
		}
	}()
	c := f.judge(f.client, configMapType, []string{hold}, "held")[0]
	if got := codes(c, Overrides{Force: true}); !slices.Equal(got, []Code{NotDeleting}) {
		t.Errorf("refusals %v, want NotDeleting", got)
	}
	o := f.performOn(f.client, Overrides{ForceLive: true}, Options{Settle: 20 * time.Second}, c)[0]
	if len(o.PutBack) != 1 || o.PutBack[0].InRequest || o.PutBack[0].Manager != "stubborn-controller" {
		t.Errorf("put back: %+v, want by stubborn-controller", o.PutBack)
	}
}

// TestPreflightTellsWhatTheServerRefuses: a validating webhook that denies the removal, and one
// that is dead; nothing is written.
func TestPreflightTellsWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "held", hold)
	f.delete(configMapType, "held", metav1.DeletePropagationBackground)
	f.webhook("Validating", func(_, now, response map[string]any) {
		response["allowed"], response["status"] = false,
			map[string]any{"message": "not today", "code": 422, "reason": "Invalid"}
	})
	dead := "dead-" + f.namespace
	judged := func(text, hint string) {
		t.Helper()
		testcluster.Eventually(t, "the server to refuse it with "+text, func(ctx testContext) (bool, error) {
			c := f.judge(f.client, configMapType, []string{hold}, "held")[0]
			if err := dryRunAll(ctx, f.client, []*Candidate{c}, Overrides{}); err != nil {
				return false, err
			}
			against := c.Assessments[0].Against(Overrides{Force: true, ForceLive: true})
			return len(against) == 1 && against[0].Code == ServerRefuses && strings.Contains(against[0].Because, text) &&
				strings.Contains(against[0].Hint, hint), nil
		})
	}
	version := f.version(configMapType, "held")
	judged("not today", "make an exception")
	f.c.Apply(t, fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: dead.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: %[2]s, name: nobody}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [UPDATE]}]
`, dead, f.namespace))
	t.Cleanup(func() { f.c.Kubectl(t, "delete", "validatingwebhookconfiguration", dead) })
	f.c.Kubectl(t, "delete", "validatingwebhookconfiguration", "validating-"+f.namespace)
	judged("failed calling webhook", "restore its service")
	f.c.Kubectl(t, "delete", "validatingwebhookconfiguration", dead)
	f.c.Apply(t, fmt.Sprintf(
		"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: %s}\n",
		"validating-"+f.namespace))
	f.c.Apply(t, fmt.Sprintf(
		"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: %s}\n", dead))
	if now := f.version(configMapType, "held"); now != version {
		t.Errorf("the version is %s, and was %s", now, version)
	}
	f.is(configMapType, "held", hold)
}

// TestPolicyThatIsIgnoredIsNotSaidToHaveRemovedAnything_API006: the answer to the second delete
// still has the finalizer of the first.
func TestPolicyThatIsIgnoredIsNotSaidToHaveRemovedAnything_API006(t *testing.T) {
	f := newFixture(t)
	f.make(configMapType, "held", hold)
	f.delete(configMapType, "held", metav1.DeletePropagationForeground)
	proxy := faultproxy.Start(t, f.c.Config())
	proxy.On(method(http.MethodDelete), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Method, r.Body = http.MethodGet, http.NoBody
		r.ContentLength = 0
		next.ServeHTTP(w, r)
	})
	client := connect(t, proxy.Config())
	o := f.perform(client, Options{}, f.judge(client, configMapType, []string{plan.ForegroundFinalizer}, "held")[0])[0]
	if len(o.Done) != 1 || o.Done[0].Verb != plan.VerbDelete || len(o.Done[0].Finalizers) > 0 {
		t.Errorf("done %+v, want a delete that has removed nothing", o.Done)
	}
	if len(o.PutBack) != 1 || !o.PutBack[0].Ignored {
		t.Errorf("put back %+v, want that the policy was ignored", o.PutBack)
	}
}
