package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPrintTable(t *testing.T) {
	raw := &row{command: command{name: "raw bytes"}, label: "raw bytes, 199 MB", runs: runs{
		{Wall: 1100 * time.Millisecond, CPU: time.Second, Peak: 30e6}, {Wall: time.Second, CPU: 2 * time.Second, Peak: 29e6},
		{Wall: 3 * time.Second, CPU: time.Second, Peak: 31e6},
	}}
	whole := &row{label: "whole", runs: runs{{Wall: 1310 * time.Millisecond, CPU: time.Second, Peak: 129e6}}}
	whole.aims = []aim{ratioTo(raw, 1.3), peakUnder(130e6), ratioTo(raw, 0)}
	far := &row{label: "far", runs: runs{{Wall: 4 * time.Second}},
		aims: []aim{moreThan(whole, 3*time.Second), wallUnder(time.Second)}}
	var out strings.Builder
	if err := printTable(&out, []*row{raw, whole, {label: "kubectl-tree", note: "not found"}, {label: "never measured"},
		far}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"WHAT WALL MEDIAN CPU PEAK AGAINST",
		"raw bytes, 199 MB 1.00s 1.10s 1.00s 29 MB",
		"whole 1.31s 1.31s 1.00s 129 MB 1.31x raw bytes (aim 1.3x: missed); peak 129 MB (aim 130 MB: met); 1.31x raw bytes",
		"kubectl-tree not found",
		"far 4.00s 4.00s 0.00s unknown 2.69s more than near (aim 3s: met); 4.00s (aim 1s: missed)",
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestShape(t *testing.T) {
	s := shapeOf(100_000)
	pods := s.deployments * replicaSetsOfDeployment * podsOfReplicaSet
	if s.objects() != 100_000 || pods != 77_500 || s.namespaces != 150 {
		t.Errorf("100,000 objects are %+v: %d objects, %d pods", s, s.objects(), pods)
	}
	if s := shapeOf(minObjects); s.deployments < 1 || s.configMaps < rootDependents || s.namespaces < 1 {
		t.Errorf("%d objects are %+v", minObjects, s)
	}
}
