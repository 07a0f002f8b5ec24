package cluster

import (
	"context"
	"errors"
)

// WhoAmI asks the server as whom it knows the user, with a SelfSubjectReview, which stores nothing.
// Servers before 1.28 do not serve it.
func (c *Client) WhoAmI(ctx context.Context) (string, error) {
	const group, version, kind = "authentication.k8s.io", "v1", "SelfSubjectReview"
	body := []byte(`{"apiVersion":"` + group + "/" + version + `","kind":"` + kind + `"}`)
	var answer struct {
		Kind   string
		Status struct{ UserInfo struct{ Username string } }
	}
	path := resourcePath(group, version, "selfsubjectreviews", "")
	if err := getJSON(ctx, c.rest.Post().AbsPath(path...).SetHeader("Content-Type", "application/json").Body(body),
		acceptJSON, &answer); err != nil {
		return "", err
	}
	if answer.Kind != kind || answer.Status.UserInfo.Username == "" {
		return "", errors.New("asking the server for the name of the user: the answer has none")
	}
	return answer.Status.UserInfo.Username, nil
}
