package core

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ServerFails says whether an error is an answer of the API server that it fails itself: with 500,
// whatever reason it gives.
func ServerFails(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError
}
