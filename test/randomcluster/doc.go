// Package randomcluster makes small random owner graphs on a control plane: several owners,
// blocking and not, finalizers, cycles, cluster-scoped owners, wrong references. It is for tests
// that hold what the product does or foretells against what really happens.
package randomcluster
