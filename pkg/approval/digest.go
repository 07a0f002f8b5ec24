package approval

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"regexp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// version begins what is digested. It changes with the form of the entries, so that no digest of
// one form is one of another.
const version = "gc.kubectl.dev/plan/2\n"

// Digest is over what a plan does: the requested deletes with their policy and grace period, every
// write with its object, its policy and who does it, which objects are deleted, which never can be,
// the finalizers that are waited for, the data that is destroyed or stays outside the cluster, and
// whether it is complete. It does not depend on the order in which objects were listed, on ages,
// resourceVersions, permissions or the words of sentences. It is a SHA-256, as "sha256:" and 64
// hexadecimal digits.
func Digest(p *v1alpha1.Plan) string { return of(p).Digest() }

// Digest is that of the whole plan. It is over the digests of the entries, in their order, so that
// a plan of a million objects is never held in words.
func (c Content) Digest() string {
	entries := make([][sha256.Size]byte, 0, c.Size)
	c.each(false, func(key []byte, _ string) {
		entries = append(entries, sha256.Sum256(append(key, '\n')))
	})
	slices.SortFunc(entries, compare)
	hash := sha256.New()
	_, _ = io.WriteString(hash, version) // a hash returns no error
	for _, e := range slices.Compact(entries) {
		_, _ = hash.Write(e[:])
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// compare orders digests. The first bytes almost always tell.
func compare(a, b [sha256.Size]byte) int {
	if first := cmp.Compare(binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:])); first != 0 {
		return first
	}
	return bytes.Compare(a[:], b[:])
}

var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// IsDigest says whether a text has the form of a Digest.
func IsDigest(text string) bool { return digest.MatchString(text) }
