package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"regexp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// version begins what is digested. It changes with the form of the entries, so that no digest of one form is one of another.
const version = "gc.kubectl.dev/plan/1\n"

// Digest is over what a plan does: the requested deletes with their policy and grace period, every write with its object, its policy and who does it, which
// objects are deleted, which never can be, the finalizers that are waited for, the data that is destroyed or stays outside the cluster, and whether it is complete.
// It does not depend on the order in which objects were listed, on ages, resourceVersions, permissions or the words of sentences. It is a SHA-256, as
// "sha256:" and 64 hexadecimal digits.
func Digest(p *v1alpha1.Plan) string {
	hash := sha256.New()
	_, _ = io.WriteString(hash, version+"\n")
	for _, key := range keys(p) {
		_, _ = io.WriteString(hash, key+"\n") // a hash returns no error; a key has no line break, since it is JSON
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// IsDigest says whether a text has the form of a Digest.
func IsDigest(text string) bool { return digest.MatchString(text) }
