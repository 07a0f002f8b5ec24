package status

import "testing"

// TestConditionsThatSayInUse: by type or by reason, of those that fail alone.
func TestConditionsThatSayInUse(t *testing.T) {
	for condition, want := range map[string]bool{
		"{type: DeletionIsBlocked, status: 'True', reason: ObjectHasDependents}":     true,
		"{type: DeletionIsBlocked, status: 'False', reason: ObjectHasNoDependents}":  false,
		"{type: InUse, status: 'True'}":                                              true,
		"{type: InUse, status: 'False'}":                                             false,
		"{type: Ready, status: 'False', reason: InUse, message: used by 2 pods}":     true,
		"{type: Ready, status: 'True', reason: InUse}":                               false,
		"{type: Ready, status: 'False', reason: Deleting, message: still in use}":    false,
		"{type: Stalled, status: 'True', reason: ResourceInUse, message: has ports}": true,
	} {
		if got := Conditions(read(t, "status: {conditions: ["+condition+"]}"))[0].InUse(); got != want {
			t.Errorf("%s: in use %t, want %t", condition, got, want)
		}
	}
}
