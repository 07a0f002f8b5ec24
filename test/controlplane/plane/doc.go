// Package plane runs one control plane in one directory: etcd, kube-apiserver and
// kube-controller-manager as processes of this binary, watched by a supervisor.
//
// The directory holds kubeconfig, the logs (etcd.log, apiserver.log, controllers.log,
// supervisor.log) and state/ with everything else: the data, the keys, the tokens, the sockets and
// the records of the processes.
//
// The kubeconfig's user is in system:masters. A test that needs someone with fewer rights binds
// roles to a name and impersonates it (kubectl --as, rest.Config.Impersonate); RBAC is on and
// impersonation is decided by it like on any cluster.
//
// The package does not import the components; it knows them by the names that this binary runs them
// under.
package plane
