// Package rules judges a plan by the rules of docs/review.md, each with the engine that it is
// written for. It is a module of its own, since the engine of Rego is large.
package rules

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"github.com/itchyny/gojq"
	"github.com/open-policy-agent/opa/v1/rego"
)

const objects = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: invoices, namespace: billing, uid: a1}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: cart, namespace: shop, uid: a2}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader, uid: a3}}
`

// plan is that of a change after which only kept stands in the manifests.
func plan(t *testing.T, kept string) map[string]any {
	t.Helper()
	dir := t.TempDir()
	manifests := regexp.MustCompile(`, uid: \w+`).ReplaceAllString(objects, "")
	for name, text := range map[string]string{"cluster/all.yaml": objects, "old.yaml": manifests, "new.yaml": kept} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plugin, err := filepath.Abs("../../bin/kubectl-gc")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), plugin, "delete", "-f", "old.yaml", "--unless-in", "new.yaml", "--from", "cluster",
		"--dry-run=client", "-o", "json")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	var document map[string]any
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// rule finds what stands on the page between two texts.
func rule(t *testing.T, page []byte, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/review.md has nothing like %s", pattern)
	}
	return string(found[1])
}

func withJQ(t *testing.T, rule string, document map[string]any) bool {
	t.Helper()
	query, err := gojq.Parse(rule)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := query.Run(document).Next()
	allowed, isBool := value.(bool)
	if !isBool {
		t.Fatalf("jq: %v", value)
	}
	return allowed
}

func withRego(t *testing.T, rule string, document map[string]any) bool {
	t.Helper()
	results, err := rego.New(rego.Query("data.main.deny"), rego.Module("policy.rego", rule), rego.Input(document)).Eval(t.Context())
	if err != nil || len(results) != 1 {
		t.Fatalf("rego: %v, %v", results, err)
	}
	denials, isSet := results[0].Expressions[0].Value.([]any)
	if !isSet {
		t.Fatalf("rego: %v", results)
	}
	for _, denial := range denials {
		if text, isText := denial.(string); !isText || !strings.HasSuffix(text, " is deleted") {
			t.Errorf("rego says %v", denial)
		}
	}
	return len(denials) == 0
}

func withCEL(t *testing.T, rule string, document map[string]any) bool {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable("this", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	checked, issues := env.Compile(rule)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(checked)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.ContextEval(t.Context(), map[string]any{"this": document})
	if err != nil {
		t.Fatal(err)
	}
	allowed, isBool := value.Value().(bool)
	if !isBool {
		t.Fatalf("CEL: %v", value)
	}
	return allowed
}

// TestRulesOfTheReviewPage: each rule refuses a change that deletes what is in the namespace, and
// allows one that deletes something in another and something that has none.
func TestRulesOfTheReviewPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/review.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]func(map[string]any) bool{
		"jq":   func(d map[string]any) bool { return withJQ(t, rule(t, page, `jq -e '(.*)'`), d) },
		"Rego": func(d map[string]any) bool { return withRego(t, rule(t, page, "(?s)```rego\n(.*?)```"), d) },
		"CEL":  func(d map[string]any) bool { return withCEL(t, rule(t, page, `celq '(.*)'`), d) },
	}
	parts := strings.Split(objects, "---")
	for kept, want := range map[string]bool{parts[0]: true, parts[1]: false} {
		document := plan(t, kept)
		if deleted, isList := document["deleted"].([]any); !isList || len(deleted) != 2 {
			t.Fatalf("deleted: %v", document["deleted"])
		}
		for language, allows := range rules {
			if got := allows(document); got != want {
				t.Errorf("%s allows it: %t, want %t", language, got, want)
			}
		}
	}
}
