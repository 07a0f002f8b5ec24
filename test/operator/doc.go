// Package operator runs small operators beside a control plane: each works as long as its
// Deployment has a ready pod, and with the permissions of its ServiceAccount.
//
// An operator puts its finalizers on the objects that it works on, creates what belongs to them,
// creates that again if it is deleted while they live, and removes its finalizers from those that
// are being deleted, once what has to go before is gone. Kubelet stands in for the nodes that a
// test control plane does not have: it makes pods ready. The Deployments need the controllers of
// Deployments and ReplicaSets.
package operator
