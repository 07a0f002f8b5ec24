package script

import "testing"

// TestStandInsKeepATableATable: ages and names that differ from run to run become the same ones, in
// columns that are as wide as they have to be.
func TestStandInsKeepATableATable(t *testing.T) {
	const first = `$ kubectl gc tree -n shop
NAMESPACE   NAME                           STATE          READY   AGE
shop        ReplicaSet/web-5d79f54576      Deleting(5s)   0       7s
shop          ├─Pod/web-5d79f54576-w9dnv   Pending        0/1     7s
shop          └─Pod/web-5d79f54576-xcjsz   Pending        0/1     7s
1 object (5s), deleted 3 s ago
its condition Available is False for 7 s
pod "web-5d79f54576-xcjsz" in shop namespace: its finalizer is removed
pod "web-5d79f54576-xcjsz" deleted from shop namespace
pod "web-5d79f54576-w9dnv" deleted from shop namespace
`
	const second = `$ kubectl gc tree -n shop
NAMESPACE   NAME                          STATE            READY   AGE
shop        ReplicaSet/web-79d96798b      Deleting(1m5s)   0       71s
shop          ├─Pod/web-79d96798b-22222   Pending          0/1     71s
shop          └─Pod/web-79d96798b-44444   Pending          0/1     70s
1 object (1m5s), deleted 1 min ago
its condition Available is False for 2 min
pod "web-79d96798b-22222" deleted from shop namespace
pod "web-79d96798b-44444" in shop namespace: its finalizer is removed
pod "web-79d96798b-44444" deleted from shop namespace
`
	const want = `$ kubectl gc tree -n shop
NAMESPACE   NAME                           STATE           READY   AGE
shop        ReplicaSet/web-5d79f54576      Deleting(12m)   0       12m
shop          ├─Pod/web-5d79f54576-b4xk0   Pending         0/1     12m
shop          └─Pod/web-5d79f54576-c4xk1   Pending         0/1     12m
1 object (12m), deleted 12 min ago
its condition Available is False for 12 min
pod "web-5d79f54576-b4xk0" deleted from shop namespace
pod "web-5d79f54576-c4xk1" in shop namespace: its finalizer is removed
pod "web-5d79f54576-c4xk1" deleted from shop namespace
`
	for _, text := range []string{first, second} {
		if got := standIns(text); got != want {
			t.Errorf("got:\n%s", got)
		}
	}
}
