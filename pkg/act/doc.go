// Package act sends the writes of a plan and waits until the cascade is complete.
//
// It decides nothing: what is deleted, in which order and with which policy is the plan's. Every
// delete carries the uid, and what is waited for is told by uid, so another object under an old
// name is never touched and never waited for.
//
// Comments cite rules of garbage collection by their keys, such as GC-046; docs/gc-semantics.md
// states them.
package act
