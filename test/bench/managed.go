package main

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The fields that the managers of a status own on a real cluster. The server adds those of whoever
// creates an object by itself; it keeps these, which are sent along, so that an object is complete
// with one request.
var (
	podStatusFields = fmt.Sprintf(
		`{"f:status":{"f:conditions":{%s},"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},`+
			`"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.244.17.203\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`,
		conditionFields("f:lastProbeTime", "ContainersReady", "Initialized", "PodReadyToStartContainers", "Ready"))

	replicaSetStatusFields = `{"f:status":{"f:availableReplicas":{},"f:fullyLabeledReplicas":{},"f:observedGeneration":{},` +
		`"f:readyReplicas":{},"f:replicas":{}}}`

	deploymentStatusFields = fmt.Sprintf(
		`{"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},%s},"f:observedGeneration":{},`+
			`"f:readyReplicas":{},"f:replicas":{},"f:updatedReplicas":{}}}`,
		conditionFields("f:lastUpdateTime", "Available", "Progressing"))
)

// conditionFields are the fields of conditions, with the time that these conditions have besides
// lastTransitionTime.
func conditionFields(time string, types ...string) string {
	var all []string
	for _, t := range types {
		all = append(
			all, fmt.Sprintf(`"k:{\"type\":\"%s\"}":{".":{},"%s":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}`,
				t, time))
	}
	return strings.Join(all, ",")
}

func managedStatus(manager, apiVersion, fields string) metav1.ManagedFieldsEntry {
	now := metav1.Now()
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: apiVersion, Time: &now,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: "status",
	}
}
