package status

import "testing"

// TestAnswersThatSomethingDoesNotExist: those of an API, and not what is missing in a program.
func TestAnswersThatSomethingDoesNotExist(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ControllerpublishVolume failed for pvc-1: 404 Not Found": true,
		"rpc error: code = NotFound desc = no access point":       true,
		"NoSuchBucket: the bucket does not exist":                 true,
		"java.lang.NoSuchMethodError: a":                          false,
		"took 404 ms":                                             false,
		"secrets \"a\" not found":                                 false,
	} {
		if got := AnswersNotFound(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
