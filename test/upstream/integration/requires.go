//go:build never

// Package garbagecollector is empty but for this file, which has go mod tidy keep what upstream's
// tests import.
package garbagecollector

import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	_ "k8s.io/apiextensions-apiserver/test/integration/fixtures"
	_ "k8s.io/apimachinery/pkg/util/wait"
	_ "k8s.io/apiserver/pkg/storage/names"
	_ "k8s.io/client-go/metadata/metadatainformer"
	_ "k8s.io/controller-manager/pkg/informerfactory"
	_ "k8s.io/klog/v2"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
	_ "k8s.io/kubernetes/test/integration"
	_ "k8s.io/kubernetes/test/integration/framework"
	_ "k8s.io/kubernetes/test/utils/ktesting"
	_ "k8s.io/utils/ptr"
)
