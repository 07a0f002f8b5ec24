package finalizers

import "testing"

func TestKindsThatAskForADeletion(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{
		"DeleteBackupRequest": true, "BackupDeletionRequest": true, "ClusterDeletion": true,
		"DeletionProtection": false, "SnapshotDeletionPolicy": false, "Deleter": false, "DeletePolicy": false,
	} {
		if asksInKind.MatchString(kind) != want {
			t.Errorf("%s: %t, want %t", kind, !want, want)
		}
	}
}
