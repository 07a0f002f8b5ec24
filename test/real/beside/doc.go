// Package beside starts real controllers beside a control plane, with the types that they need, and
// runs helm. Only Karpenter and Kueue elect a leader.
//
// Crossplane, provider-kubernetes, Karpenter and CloudNativePG listen on all interfaces and have no
// flag for the address; provider-kubernetes has none for the ports of its webhook (9443) and its
// metrics (8080) either. So it can run once on a machine.
package beside
