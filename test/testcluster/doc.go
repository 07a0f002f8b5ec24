// Package testcluster gives tests a real control plane: the one that "make controlplane" builds.
//
// A test package calls Main from its TestMain and Shared in its tests; the control plane starts
// with the first test that asks, in about three seconds, and each test works in a Namespace of its
// own. Tests that compare two control planes share Another too. A test that needs other controllers
// or flags, or that breaks things, calls Start for a control plane of its own.
//
// What is different from a cluster with nodes: pods stay Pending and are gone as soon as they are
// deleted, so a StatefulSet makes its second pod only with podManagementPolicy: Parallel. The
// collector looks for new types every 30 seconds; a test that cannot wait for that after it made a
// type stops the controllers and starts the collector again.
package testcluster
