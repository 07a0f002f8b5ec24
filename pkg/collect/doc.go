// Package collect is the garbage collector's loop, driven from a client: list, decide, act, until a pass has nothing to write.
//
// It decides by the function that plans are made with (plan.Decide) and feeds the plan's Overlay with what the server has done. What it
// knows of absence it has from live reads (RO-004), never from a list; every write carries the uid and the resourceVersion of what the
// decision rests on. It prints nothing.
//
// Before its first write a pass plans to the end of the cascade and is held to three bounds: no kind of owner is gone all at once (plan.Masses), no more
// is deleted than Options.MaxDeletes, and nothing is written that was not agreed to (Loop.Agreed, Options.Agree). Whoever calls the loop has them; a
// command only asks and prints.
//
// It never finalizes a namespace: that is the namespace controller's part.
package collect
