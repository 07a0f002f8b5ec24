// Package link finds the edges that no ownerReference records: what else is deleted with an object,
// by the rules of the API server and the controllers. It is pure; it looks at a graph and nothing
// else.
package link
