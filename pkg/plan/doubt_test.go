package plan

import "testing"

// TestAccountThatAProgramActsAs: what the account cannot delete stays, and keeps what names it, but
// not once it is gone, or the account is; the rest goes. Doubtful is what only the account deletes,
// if that goes too or may be without the right.
func TestAccountThatAProgramActsAs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		refused, unsure string
		roots           []string
		deleted, doubts string
		stuck           ReasonCode
		own             bool // no account is named
	}{
		"has the right":     {roots: []string{"shop"}, deleted: "other set shop"},
		"lacks it":          {refused: "no", roots: []string{"shop"}, deleted: "other", stuck: LinkRefused},
		"acts as itself":    {refused: "no", own: true, roots: []string{"shop"}, deleted: "other", stuck: LinkRefused},
		"and nobody knows":  {unsure: "no answer", roots: []string{"shop"}, deleted: "other set shop", doubts: "set"},
		"and the end goes":  {refused: "no", roots: []string{"shop", "set"}, deleted: "other set shop"},
		"and it goes too":   {refused: "no", roots: []string{"shop", "account"}, deleted: "account other shop", doubts: "other"},
		"nobody, and named": {unsure: "no answer", roots: []string{"shop", "set"}, deleted: "other set shop"},
		"lacks it, and is in the same namespace": {refused: "no", roots: []string{"ns"},
			deleted: "account ns other set shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTied(t)
			s.add(nsType, "ns")
			s.add(kustomizations, "shop").Finalizers = []string{fluxFinalizer}
			s.add(accounts, "account")
			s.add(sets, "set")
			s.add(configMaps, "other")
			s.tie(inventoryOf, "shop", "other", nil, fluxFinalizer).account = "account"
			end := s.tie(inventoryOf, "shop", "set", nil, fluxFinalizer)
			end.account, end.refused, end.unsure = "account", test.refused, test.unsure
			if test.own {
				end.account = ""
			}
			p := s.plan(Background, test.roots...)
			wantDeleted(t, p, test.deleted)
			stuck := ReasonCode("")
			for _, o := range p.Stuck() {
				stuck = o.Because.Code
				if f, ok := p.Link(o.Object, o.Because); !ok || f.Refused == "" {
					t.Errorf("%v is not about the link", o)
				}
			}
			if stuck != test.stuck {
				t.Errorf("stuck because of %q, want %q", stuck, test.stuck)
			}
			doubts := ""
			for _, f := range p.Doubtful() {
				doubts += p.Graph.Name(f.Dependent())
			}
			if doubts != test.doubts {
				t.Errorf("doubtful are %q, want %q", doubts, test.doubts)
			}
			if test.stuck != "" {
				wantReason(t, p, "set", LinkRefused, "shop")
			}
		})
	}
}
