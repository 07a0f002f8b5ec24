//go:build !linux

package plane

import (
	"fmt"
	"net"
)

// reservePort finds a free port on 127.0.0.1. Other kernels than Linux may send connections to a
// socket that only reserves a port, so here it is free again, for a moment, for anyone.
func reservePort() (port int, release func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("finding a port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, func() {}, nil
}
