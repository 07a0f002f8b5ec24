// Package act carries out a plan and waits for its end.
//
// It decides nothing: what is deleted, in which order and with which policy is the plan's. Every delete carries the uid,
// and what is waited for is told by uid, so another object under an old name is never touched and never waited for.
package act
