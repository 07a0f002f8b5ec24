// Package upstream runs Kubernetes' own integration tests of the garbage collector against kubectl
// gc run --watch.
//
// Nothing of them stands in this repository. They are read from the module k8s.io/kubernetes,
// edited in two places (Edit), and compiled by go's -overlay as if they stood in the directory
// integration. There they use package garbagecollector, whose collector is a process of the plugin.
package upstream
