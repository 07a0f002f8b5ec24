package plane

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// reservePort finds a free port on 127.0.0.1 and keeps it for a server that listens with
// SO_REUSEPORT (--permit-port-sharing of the Kubernetes components) until release. The socket is
// bound and never listens: no connection goes to it, and the kernel gives the port to nobody who
// asks for any free one. So there is no race to lose between finding a port and using it.
func reservePort() (port int, release func(), err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("reserving a port: %w", err)
	}
	unix.CloseOnExec(fd)
	release = func() { _ = unix.Close(fd) }
	port, err = bindAny(fd)
	if err != nil {
		release()
		return 0, nil, fmt.Errorf("reserving a port: %w", err)
	}
	return port, release, nil
}

func bindAny(fd int) (int, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	return address.(*unix.SockaddrInet4).Port, nil
}
