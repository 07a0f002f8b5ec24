package link

import "errors"

// UsersOf returns for which objects a guard keeps its end, and why it does in words, as far as it
// says so.
func (d *Definition) UsersOf(guard map[string]any) (users []Named, reason string) {
	for _, u := range d.Users {
		found, _ := u.named(guard) // what could be understood comes with an error
		users = append(users, found...)
	}
	if !d.ReasonField.IsZero() {
		reason, _ = d.ReasonField.Text(guard)
	}
	return users, reason
}

// checkGuard returns what is wrong with what a definition says of users.
func (d *Definition) checkGuard() []error {
	var errs problems
	if d.Deletion.Of != Guard && (len(d.Users) > 0 || !d.ReasonField.IsZero()) {
		errs.add("", errors.New(`"users" and "reasonField" are for a deletion "of" guard`))
	}
	if w := d.DryRunWrites; w != nil {
		if d.Deletion.Of != Guard {
			errs.add("", errors.New(`"dryRunWrites" is for a deletion "of" guard`))
		}
		errs.add(`"dryRunWrites": `, required("label", w.Label), required("writes", w.Writes))
		if len(w.Webhooks) == 0 {
			errs.add(`"dryRunWrites": `, errors.New(`"webhooks" is empty: name the webhooks that write`))
		}
	}
	for _, u := range d.Users {
		if u.Form == Labels {
			errs.add(`"users": `, errors.New(`write the form "reference" or "text": a guard names its users one by one`))
			continue
		}
		errs.add(`"users": `, u.check()...)
	}
	return errs
}
