// Package selection finds the objects that a user means by names, selectors and files, as kubectl
// does, and lists what they can reach into a graph.
package selection
