package link

import "testing"

// TestWhichSideStandsAbove: the side that takes the other along, or keeps it from being deleted;
// else what the definition says.
func TestWhichSideStandsAbove(t *testing.T) {
	for _, c := range []struct {
		of, owner Direction
		end       bool
	}{{End, "", false}, {Source, "", true}, {Guard, "", true}, {Neither, "", false}, {Neither, Source, false},
		{Neither, End, true}} {
		f := Found{Definition: &Definition{Owner: c.owner, Deletion: Deletion{Of: c.of}}, Source: 1, End: 2}
		if got := f.Owner() == 2; got != c.end || f.Owner() == f.Dependent() {
			t.Errorf("%s, owner %q: the end stands above: %t", c.of, c.owner, got)
		}
	}
}
