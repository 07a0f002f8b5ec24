package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestReviewPage runs the jobs of docs/review.md, as they stand there, in a repository whose change
// removes a claim that Argo CD keeps, and a ConfigMap.
func TestReviewPage(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	const kept = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, annotations: {argocd.argoproj.io/tracking-id: 'shop:x', argocd.argoproj.io/sync-options: Prune=false}}}"
	const goes = "{apiVersion: v1, kind: ConfigMap, metadata: {name: goes, labels: {kustomize.toolkit.fluxcd.io/name: shop}, annotations: {argocd.argoproj.io/tracking-id: 'shop:x'}}}"
	const stays = "{apiVersion: v1, kind: ConfigMap, metadata: {name: stays}}"
	for _, o := range []string{kept, goes, stays} {
		c.Apply(t, o, "-n", ns)
	}
	text, err := os.ReadFile("../../docs/review.md")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		jobs = append(jobs, block[1])
	}
	if len(jobs) != 3 {
		t.Fatalf("%d jobs on the page, want that of GitHub, its steps for alerts, and that of GitLab", len(jobs))
	}
	var github struct {
		Jobs map[string]struct {
			Steps []struct {
				Run string            `json:"run"`
				Env map[string]string `json:"env"`
			} `json:"steps"`
		} `json:"jobs"`
	}
	var gitlab map[string]struct {
		Script []string `json:"script"`
	}
	if err := yaml.Unmarshal([]byte(jobs[0]), &github); err != nil {
		t.Fatal(err)
	}
	var alerts []struct {
		Run string `json:"run"`
	}
	if err := yaml.Unmarshal([]byte(jobs[1]), &alerts); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(jobs[2]), &gitlab); err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, step := range github.Jobs["deletions"].Steps {
		if step.Run != "" {
			steps = append(steps, step.Run)
		}
	}
	if len(steps) != 2 || len(gitlab["deletions"].Script) != 3 {
		t.Fatalf("%d steps and %d lines, want 2 and 3", len(steps), len(gitlab["deletions"].Script))
	}

	kubeconfig, err := os.ReadFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	repository := t.TempDir()
	shell := func(script string, env map[string]string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
		cmd.Dir = repository
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(objects ...string) {
		t.Helper()
		deploy := filepath.Join(repository, "deploy")
		if err := os.MkdirAll(deploy, 0o750); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"all.yaml": strings.Join(objects, "\n---\n"),
			"kustomization.yaml": "{namespace: " + ns + ", resources: [all.yaml]}"} {
			if err := os.WriteFile(filepath.Join(deploy, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	shell("git init --quiet", nil)
	write(kept, goes, stays)
	shell("git add . && git commit --quiet -m before", nil)
	base := shell("git rev-parse HEAD", nil)
	write(stays)
	shell("git add . && git commit --quiet -m after", nil)

	temp := t.TempDir()
	env := map[string]string{"RUNNER_TEMP": temp, "READER_KUBECONFIG": string(kubeconfig), "BASE": base}
	shell(steps[0], env)
	gh := t.TempDir()
	if err := os.WriteFile(filepath.Join(gh, "gh"), []byte("#!/bin/sh\ncat \"$7\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	maps.Copy(env, map[string]string{"PATH": gh + ":" + os.Getenv("PATH"), "PR": "1"})
	comment := shell(steps[1], env)
	for _, want := range []string{"deletes 1 object of 1 kind", "ConfigMap/goes", "Argo CD keeps it: annotation argocd.argoproj.io/sync-options has Prune=false"} {
		if !strings.Contains(comment, want) {
			t.Errorf("the comment lacks %q:\n%s", want, comment)
		}
	}
	if strings.Contains(comment, "ConfigMap/stays") {
		t.Errorf("the comment is about what stays:\n%s", comment)
	}

	env["GITHUB_WORKSPACE"] = repository
	shell(alerts[0].Run, env)
	sarif, err := os.ReadFile(filepath.Join(temp, "deletions.sarif"))
	for _, want := range []string{`"ruleId": "NotPruned"`, `"uri": "deploy/kustomization.yaml"`, `"fullyQualifiedName": "configmap/kept in ` + ns} {
		if err != nil || !strings.Contains(string(sarif), want) {
			t.Errorf("%v: the alerts lack %q:\n%s", err, want, sarif)
		}
	}

	shell(strings.Join(gitlab["deletions"].Script, "\n"), map[string]string{"READER_KUBECONFIG": c.Kubeconfig(), "CI_MERGE_REQUEST_DIFF_BASE_SHA": base})
	report, err := os.ReadFile(filepath.Join(repository, "report.xml"))
	if err != nil || !strings.Contains(string(report), `tests="3" failures="0"`) || !strings.Contains(string(report), `name="data-loss"`) {
		t.Errorf("%v: %s", err, report)
	}
}
