package main

import "fmt"

// What every loaded cluster has, whatever its size.
const (
	replicaSetsOfDeployment = 2
	podsOfReplicaSet        = 10
	perDeployment           = 1 + replicaSetsOfDeployment*(1+podsOfReplicaSet)
	rootDependents          = 10
	rootName                = "bench-root"
	wideName                = "bench-wide" // owns a deployment in each namespace
	minObjects              = 100
)

// shape is how many there are of what.
type shape struct{ namespaces, deployments, configMaps int }

// shapeOf makes 77.5 % of the objects pods, spread as 100,000 would be over 150 namespaces; what is
// left are ConfigMaps.
func shapeOf(objects int) shape {
	s := shape{
		namespaces:  max(1, objects*150/100_000),
		deployments: max(1, objects*775/1000/(replicaSetsOfDeployment*podsOfReplicaSet)),
	}
	s.configMaps = max(rootDependents, objects-s.namespaces-s.deployments*perDeployment-2)
	return s
}

func (s shape) objects() int {
	return s.namespaces + s.deployments*perDeployment + s.configMaps + 2
}

// wide is how many rows the tree of what owns a deployment in each namespace has.
func (s shape) wide() int { return 1 + min(s.namespaces, s.deployments)*perDeployment }

// namespaceName, deploymentName and configMapName are the names of the objects by number. Numbers
// go round the namespaces.
func namespaceName(i int) string { return fmt.Sprintf("bench-%03d", i) }

func (s shape) deploymentName(i int) (namespace, name string) {
	return namespaceName(i % s.namespaces), fmt.Sprintf("web-%02d", i/s.namespaces)
}

func (s shape) configMapName(i int) (namespace, name string) {
	return namespaceName(i % s.namespaces), fmt.Sprintf("settings-%03d", i/s.namespaces)
}
