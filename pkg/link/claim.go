package link

import "strings"

// Claim: a PersistentVolumeClaim was made for a pod of a StatefulSet, by its name. Without an ownerReference it does not go with it.
const Claim = "claim"

// IsClaimOf says whether a PersistentVolumeClaim's name is one that a StatefulSet gives to the claims of a template:
// template, set and ordinal (getPersistentVolumeClaimName, pkg/controller/statefulset/stateful_set_utils.go). The namespace
// has to be the same.
func IsClaimOf(claim, template, set string) bool {
	ordinal, ok := strings.CutPrefix(claim, template+"-"+set+"-")
	return ok && isOrdinal(ordinal)
}

// isOrdinal is true for a number as %d prints it: digits, and no zero in front of others.
func isOrdinal(s string) bool {
	if s == "" || len(s) > 1 && s[0] == '0' {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
