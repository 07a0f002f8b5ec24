// Package collect runs the garbage collector's loop from a client: list, decide, act, until a pass
// has nothing to write.
//
// It decides by the function that plans are made with (plan.Decide) and feeds the plan's Projection
// with what the server has done. What it knows of absence it has from live reads (RO-004), never
// from a list; every write carries the uid and the resourceVersion of what the decision rests on.
// It prints nothing.
//
// Plan and Run are for a program that collects garbage: Plan shows what a run would do, Run has it
// agreed to and does it. Loop is for a caller that needs single passes.
//
// Before its first write a pass plans to the end of the cascade and checks three bounds: no kind of
// owner is absent all at once (plan.OwnerLosses), no more is deleted than Options.MaxDeletes, and
// nothing is written that was not agreed to (Loop.Agreed, Options.Agree). Every caller has them; a
// command only asks and prints.
//
// Comments cite rules of garbage collection by their keys, such as GC-046; docs/gc-semantics.md
// states them.
//
// It never finalizes a namespace: that is the namespace controller's part.
//
// docs/glossary.md has the words of this package beside those of the garbage collector.
package collect
