// Package encode makes the versioned objects of -o json and yaml of what the libraries return. It
// is pure.
package encode
