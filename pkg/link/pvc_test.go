package link_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

func TestStemOf(t *testing.T) {
	for _, test := range []struct {
		claim, template, set string
		want                 bool
	}{
		{"data-db-0", "data", "db", true},
		{"data-db-10", "data", "db", true},
		{"data-db-1234567890", "data", "db", true},
		{"data-db-", "data", "db", false},
		{"data-db", "data", "db", false},
		{"data-db-0", "data", "db-0", false},
		{"data-db-0-0", "data", "db", false},
		{"data-db-0-0", "data", "db-0", true},
		{"data-db-00", "data", "db", false},
		{"data-db-01", "data", "db", false},
		{"data-db-0x", "data", "db", false},
		{"data-db--1", "data", "db", false},
		{"data-db-+1", "data", "db", false},
		{"data-db-٣", "data", "db", false}, // a digit, and none that %d prints
		{"write-ahead-log-db-3", "write-ahead-log", "db", true},
		{"write-ahead-log-db-3", "log", "db", false},
		{"write-ahead-log-db-3", "write", "ahead-log-db", true}, // the names alone do not tell these two apart
		{"data-db-0", "data", "", false},
		{"db-0", "", "db", false},
	} {
		if got := isPVCOf(test.claim, test.template, test.set); got != test.want {
			t.Errorf("isClaimOf(%q, %q, %q) = %t, want %t", test.claim, test.template, test.set, got, test.want)
		}
	}
}

func isPVCOf(pvc, template, set string) bool {
	stem, ok := link.PVCPrefixOf(pvc)
	return ok && stem == link.PVCPrefix(template, set)
}
