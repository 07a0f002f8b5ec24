package link

import "strings"

// Claim: a PersistentVolumeClaim was made for a pod of a StatefulSet, by its name. Without an ownerReference it does not go with it.
const Claim = "claim"

// ClaimStem is what the names of the PersistentVolumeClaims begin with that a StatefulSet makes of a template; a hyphen and an ordinal follow
// (getPersistentVolumeClaimName, pkg/controller/statefulset/stateful_set_utils.go). They are in its namespace.
func ClaimStem(template, set string) string { return template + "-" + set }

// StemOf returns what such a name begins with, false for one that has no ordinal.
func StemOf(claim string) (string, bool) {
	i := strings.LastIndexByte(claim, '-')
	if i < 0 || !isOrdinal(claim[i+1:]) {
		return "", false
	}
	return claim[:i], true
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
