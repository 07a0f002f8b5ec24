package link

import "strings"

// PVC says that a PersistentVolumeClaim was made for a pod of a StatefulSet, by its name. Without
// an ownerReference it does not go with it.
const PVC = "claim"

// PVCPrefix is what the names of the PersistentVolumeClaims begin with that a StatefulSet makes of
// a template; a hyphen and an ordinal follow (getPersistentVolumeClaimName,
// pkg/controller/statefulset/stateful_set_utils.go). They are in its namespace.
func PVCPrefix(template, set string) string { return template + "-" + set }

// PVCPrefixOf returns what such a name begins with, false for one that has no ordinal.
func PVCPrefixOf(pvc string) (string, bool) {
	i := strings.LastIndexByte(pvc, '-')
	if i < 0 || !isOrdinal(pvc[i+1:]) {
		return "", false
	}
	return pvc[:i], true
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
