package main

import "testing"

// TestRequestsOfMetrics adds up all verbs and types, and nothing else.
func TestRequestsOfMetrics(t *testing.T) {
	const metrics = "# TYPE apiserver_request_total counter\n" +
		`apiserver_request_total{code="200",verb="LIST",resource="pods with a space"} 3` + "\n" +
		`apiserver_request_total{code="404",verb="GET"} 1.5e+01` + "\n" +
		`apiserver_request_total_other{code="404"} 100` + "\n"
	if got := requestsOf([]byte(metrics)); got != 18 {
		t.Errorf("%v requests, want 18", got)
	}
}
