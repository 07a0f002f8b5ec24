package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestEachTargetGivesItsCommandsToTheSuite runs the recipes of the Makefile with a go command that
// only prints: one that a shell would cut at a bar or a quotation mark fails.
func TestEachTargetGivesItsCommandsToTheSuite(t *testing.T) {
	help, err := exec.Command("make", "-C", "../..", "--no-print-directory", "help").CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v: %s", err, help)
	}
	targets := regexp.MustCompile(`(?m)^test(-[a-z]+)?\b`).FindAllString(string(help), -1)
	if len(targets) < 8 {
		t.Fatalf("make help names only %q", targets)
	}
	for _, target := range targets {
		if target == "test-long" { // it is made of others
			continue
		}
		cmd := exec.Command("make", "-C", "../..", "--no-print-directory", "GO=echo",
			"-o", "build", "-o", "controlplane", "PROGRAMS=", target)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "run ./test/suite") {
			t.Errorf("make %s: %v\n%s", target, err, out)
		}
	}
}
