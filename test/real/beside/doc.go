// Package beside starts real controllers beside a control plane, with the types that they need, and
// runs helm. Only Karpenter and Kueue elect a leader.
//
// Crossplane, provider-kubernetes, Karpenter, CloudNativePG, Tekton and OLM listen on all interfaces
// and have no flag for the address. Nor is there one for the ports of provider-kubernetes, 9443 for
// its webhook and 8080 for its metrics, and for 8080, at which Tekton and OLM answer probes. So only
// one of the three can run on a machine.
package beside
