// Package synthetic is an API server that stores nothing: each answer is generated while it is
// written, so a million objects cost it no memory. It speaks real HTTP/2 over TLS and answers
// discovery, lists (metadata as protobuf or JSON, whole objects, Tables, pages), single reads and
// access reviews. Nothing can be written, and nothing changes, so a watch is silent.
//
// It is for measuring clients, and for tests of what they do with many objects. What a real server
// answers is for package testcluster.
package synthetic
