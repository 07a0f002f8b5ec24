package status

import "regexp"

// AnswersNotFound reports whether a text repeats the answer of an API that something does not exist.
func AnswersNotFound(text string) bool {
	return answered404.MatchString(ofProgram.ReplaceAllString(text, ""))
}

// answered404 is the answer of an API, as its clients repeat it, that something does not exist:
// that of a cloud most often, by HTTP or gRPC
// (https://github.com/kubernetes-csi/external-provisioner/issues/1277), or by a code of AWS or
// Azure. Errors of Kubernetes say what is not found in words.
var answered404 = regexp.MustCompile(`(?i:\bstatus ?code(?:=|: ?| )404\b|\b(?:error|response) 404\b|\b404 not found\b)` +
	`|\bcode = NotFound\b|[A-Za-z]\.NotFound\b|\bNoSuch[A-Z][A-Za-z]+\b|\b[A-Z][A-Za-z]+NotFound(?:Exception|Fault)\b` +
	`|\b(?:Parent)?Resource(?:Group)?NotFound\b`)

// ofProgram is what is missing in a program of Java itself, by names like those of AWS.
var ofProgram = regexp.MustCompile(`\b(?:ClassNotFound|FileNotFound|NoSuch(?:Algorithm|Element|Field|File|Method|Provider))[A-Za-z]*\b`)
