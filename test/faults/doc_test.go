// Package faults breaks the response to each request of each command once, and then reads from the
// real server what the command did. It knows four promises: nothing is deleted that the same
// command would not have deleted from a healthy server, or while an owner of it lives; what was not
// seen is not called complete; exit code 0 means that everything was done; every command ends.
//
// go test ./test/faults runs a sample; go test ./test/faults -timeout 4h -all runs all
// combinations.
package faults
