// Package collect is the garbage collector's loop, driven from a client: list, decide, act, until a pass has nothing to write.
//
// It decides by the function that plans are made with (plan.Decide) and feeds the plan's Overlay with what the server has done. What it
// knows of absence it has from live reads (RO-004), never from a list; every write carries the uid and the resourceVersion of what the
// decision rests on. It prints nothing.
// It never finalizes a namespace: that is the namespace controller's part.
package collect
