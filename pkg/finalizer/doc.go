// Package finalizer knows finalizers: who adds and removes them, what that does, and what it costs
// to remove them by hand. The knowledge is data, in packs: YAML files of one ecosystem each, which
// docs/packs.md describes. The package is pure. It asks no server, so it does not say whether a
// controller is alive, only what to look at; and it does not say which objects exist.
package finalizer
